//! Pictures in files: state graphs and message sequence charts.

use std::path::{Path, PathBuf};

use ample::pictures::{self, StateGraph};
use ample::{EngineOptions, Reason, Trace};
use serde_json::json;

use super::arguments::States;
use super::output::{self, print};
use super::{Context, Exit, failed, load, print_json};

/// So many messages of a run are drawn.
const MESSAGES: usize = 2000;

/// Draws the state graph.
pub fn state_graph(arguments: &States, context: &Context) -> Exit {
    let picture = &arguments.picture;
    let outputs: Vec<&Path> = picture.svg.iter().chain(&picture.dot).map(PathBuf::as_path).collect();
    if let Some(why) = output::conflict(&outputs, &[&arguments.file]) {
        return failed(context, &arguments.file, &why);
    }
    if arguments.search.engines != EngineOptions::default() {
        let why = "options of engines do not matter for a picture, which is of all states and steps, breadth first";
        return failed(context, &arguments.file, why);
    }
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let drawn = pictures::state_graph(&loaded.system, picture.max_nodes as usize, &budget);
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| {
        path.as_ref().map_or(Ok(()), |path| output::write(path, text().as_bytes()))
    };
    let written = write(&picture.svg, &|| drawn.graph.svg()).and_then(|()| write(&picture.dot, &|| drawn.graph.dot()));
    if let Err(why) = written {
        return failed(context, &arguments.file, &why);
    }
    let StateGraph { states, steps, open, complete, .. } = drawn;
    let reason = drawn.interrupted.map(|why| Reason::from(why).to_string());
    if context.json {
        print_json(&json!({
            "schema": ample::SCHEMA, "model": loaded.system.name, "language": loaded.system.language, "reason": reason,
            "picture": {"states": states, "steps": steps, "open": open, "complete": complete, "files": outputs},
        }));
    } else if !context.quiet {
        let extent = match (&reason, complete) {
            (Some(why), _) => format!("drawn so far; {open} of the states may have more steps: {why}"),
            (None, true) => "drawn: the whole state graph".into(),
            (None, false) => {
                format!("drawn, breadth first; {open} of the states have steps that are not (see --max-nodes)")
            }
        };
        print(|out| {
            use std::io::Write;
            writeln!(out, "{}", context.out.bold(&loaded.system.name))?;
            writeln!(out, "{states:>9} states and {steps} steps are {extent}")
        });
    }
    if reason.is_some() { Exit::Undecided } else { Exit::Fine }
}

/// Draws a run as a message sequence chart.
pub fn write_chart(path: &Path, trace: &Trace, title: String, context: &Context) -> Result<(), String> {
    let mut chart = pictures::chart(trace);
    chart.title = title;
    let chart = if context.full { chart } else { chart.cut(MESSAGES) };
    output::write(path, chart.svg().as_bytes())
}

/// The name of a further file: `chart-2.svg` beside `chart.svg`.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}
