//! `ample convert`: a model in another language.

use std::io::Write;
use std::path::Path;

use ample::{Budget, Diagnostic, LoadError, Property, Question, Severity, System};
use ample_lang::export::aig::{Aig, NoCircuit};
use ample_lang::export::{Untranslatable, aiger, blif, circuit_smv, promela, smv};
use ample_lang::milestones::{self, Model};
use serde_json::json;

use super::arguments::{Convert, Target};
use super::questions::typed;
use super::{Context, Exit, complain, diagnostics, failed, load_options, output, print, print_json, refused};

const ONLY_MILESTONES: &str = "only Milestones models are translated into Promela, or with an order of variables; \
     all models are written with --to smv, aag or aig";

/// What Milestones files are called.
const EXTENSIONS: [&str; 3] = ["mil", "milestones", "ms"];

pub fn convert(arguments: &Convert, context: &Context) -> Exit {
    let outputs = [&arguments.output, &arguments.order_file];
    let outputs: Vec<&Path> = outputs.into_iter().filter_map(|path| path.as_deref()).collect();
    if let Some(why) = output::conflict(&outputs, &[&arguments.file]) {
        return failed(context, &arguments.file, &why);
    }
    if matches!(arguments.to, Target::Aag | Target::Aig | Target::Blif) {
        return circuit(arguments, context);
    }
    let model = match read(arguments, context) {
        Ok(Some(model)) => model,
        Ok(None) if arguments.to == Target::Smv && arguments.order_file.is_none() => {
            return circuit(arguments, context);
        }
        Ok(None) => return failed(context, &arguments.file, ONLY_MILESTONES),
        Err(exit) => return exit,
    };
    let texts = translate(&model, arguments);
    let (text, order) = match texts {
        Ok(texts) => texts,
        Err(error) => return failed(context, &arguments.file, &error.to_string()),
    };
    if arguments.to != Target::Smv {
        for name in promela::with_next(&model) {
            let message = format!(
                "the formula `{name}` has X, which Spin refuses unless it is built with NXT: it stands behind `#ifdef NXT`"
            );
            let warning = Diagnostic { severity: Severity::Warning, message, span: None, help: None };
            complain(|out| diagnostics::show(out, &[], &[warning], context.err));
        }
    }
    let files = [(&arguments.output, Some(&text)), (&arguments.order_file, order.as_ref())];
    for (path, content) in files.into_iter().filter_map(|(path, content)| Some((path.as_ref()?, content?))) {
        if let Err(error) = output::write(path, content.as_bytes()) {
            return failed(context, &arguments.file, &error);
        }
    }
    let is_written = arguments.output.is_some();
    if context.json {
        let text = (!is_written).then_some(text);
        let file = arguments.file.display().to_string();
        print_json(&json!({"schema": ample::SCHEMA, "model": file, "language": arguments.to.name(), "text": text}));
    } else if !is_written {
        print(|out| out.write_all(text.as_bytes()));
    }
    Exit::Fine
}

/// Writes a model as a circuit.
fn circuit(arguments: &Convert, context: &Context) -> Exit {
    let path = &arguments.file;
    let budget = context.budget(path, &arguments.common);
    let loaded = match super::load(path, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let mut properties = Vec::new();
    for text in &arguments.invariant {
        match loaded.expression_within(text, &budget) {
            Ok(condition) => properties.push(typed(text, Question::Invariant(condition))),
            Err(error) => return refused(context, path, &error),
        }
    }
    let aig = match aig(&loaded.system, properties, arguments.to, &budget) {
        Ok(aig) => aig,
        Err(why) => return failed(context, path, &why),
    };
    if arguments.to == Target::Blif && !aig.constraints.is_empty() {
        return failed(context, path, "a circuit with constraints cannot be written in BLIF; --to aag keeps them");
    }
    warn_of_left_out(&aig, arguments.to, context);
    let bytes = match arguments.to {
        Target::Aig => aiger::binary(&aig),
        Target::Smv => circuit_smv::model(&aig, &path.display().to_string()).into_bytes(),
        Target::Blif => blif::model(&aig, &path.file_stem().unwrap_or_default().to_string_lossy()).into_bytes(),
        _ => aiger::text(&aig).into_bytes(),
    };
    if let Some(output) = &arguments.output
        && let Err(error) = output::write(output, &bytes)
    {
        return failed(context, path, &error);
    }
    let is_written = arguments.output.is_some();
    if context.json {
        let text = (!is_written).then(|| String::from_utf8_lossy(&bytes).into_owned());
        let file = path.display().to_string();
        print_json(&json!({"schema": ample::SCHEMA, "model": file, "language": arguments.to.name(), "text": text}));
    } else if !is_written {
        print(|out| out.write_all(&bytes));
    }
    Exit::Fine
}

/// The circuit of a system: its own latches and gates if it is one, or the bits of its variables.
fn aig(system: &System, more: Vec<Property>, to: Target, budget: &Budget) -> Result<Aig, String> {
    if to != Target::Smv {
        match Aig::of(system, &more, budget) {
            Err(NoCircuit::Interrupted(interrupted)) => return Err(interrupted.to_string()),
            Err(_) => {}
            Ok(aig) => return Ok(aig),
        }
    }
    let mut properties = ample::stated(system);
    properties.extend(more);
    let aig = ample::circuit(system, &properties, budget).map_err(|reason| reason.to_string())?;
    Ok(if to == Target::Smv { aig } else { aig.with_monitors() })
}

/// Warns of properties that the format cannot say.
fn warn_of_left_out(aig: &Aig, to: Target, context: &Context) {
    let mut left_out = aig.left_out.clone();
    if to == Target::Blif {
        left_out.extend(aig.justice.iter().map(|(name, _)| format!("ltl:justice:{name}")));
    }
    if left_out.is_empty() {
        return;
    }
    let message = format!("left out, because {} cannot say it: {}", to.name(), left_out.join(", "));
    let warning = Diagnostic { severity: Severity::Warning, message, span: None, help: None };
    complain(|out| diagnostics::show(out, &[], &[warning], context.err));
}

/// Reads the model, if it is one of Milestones; what is wrong with it is reported.
fn read(arguments: &Convert, context: &Context) -> Result<Option<Model>, Exit> {
    let path = &arguments.file;
    let name = path.display().to_string();
    let budget = context.budget(path, &arguments.common);
    let options = load_options(&arguments.common, &budget);
    let text = ample::read_text(path, &options).map_err(|error| refused(context, path, &error))?;
    let is_milestones = match arguments.common.language {
        Some(language) => language == "milestones",
        None => is_milestones(path, &text),
    };
    if !is_milestones {
        return Ok(None);
    }
    let model =
        milestones::parse(&name, &text).map_err(|rejected| refused(context, path, &LoadError::from(rejected)))?;
    let sources = std::slice::from_ref(&model.source);
    complain(|out| diagnostics::show(out, sources, &model.warnings, context.err));
    Ok(Some(model))
}

/// By the extension; any other file must have the sections of a Milestones model.
fn is_milestones(path: &Path, text: &str) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    if extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str())) {
        return true;
    }
    let has = |word: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word);
    (has("GLOBAL") || has("MAIN")) && (has("CASE") || has("PROC")) && has("END")
}

/// The text, and the order of the variables if it is asked for.
fn translate(model: &Model, arguments: &Convert) -> Result<(String, Option<String>), Untranslatable> {
    let text = match arguments.to {
        Target::Smv => smv::model(model)?,
        Target::Promela => promela::model(model)?,
        // The others are circuits.
        _ => promela::processes(model)?,
    };
    let order = arguments.order_file.as_ref().map(|_| smv::order(model)).transpose()?;
    Ok((text, order))
}
