//! A state as a graph, in the language of Graphviz: who refers to which object.

use std::fmt::Write;

use super::{Interpreter, Layout, State};
use crate::system::{Scalar, Type, Variable};

impl Interpreter<'_> {
    /// The state graph: the globals, the processes and the objects with their values, and an edge for each reference, in the
    /// language of Graphviz. What refers to nothing has no edge.
    ///
    /// ```
    /// use ample_model::{Interpreter, State, System};
    ///
    /// let system = System::new("nothing", "by hand");
    /// let picture = Interpreter::new(&system).picture(&State::default());
    /// assert!(picture.starts_with("digraph"));
    /// ```
    pub fn picture(&self, state: &State) -> String {
        let mut out = String::from("digraph state {\n    node [shape=box, fontname=\"monospace\"];\n");
        let mut edges = String::new();
        self.node(&mut out, &mut edges, "globals", "globals", &self.system.globals, &self.globals, &state.globals);
        for (number, process) in state.processes.iter().enumerate() {
            let ty = self.system.process(process.process);
            let title = format!("{} ({number})", ty.name);
            let layout = self.locals(process.process);
            self.node(&mut out, &mut edges, &format!("p{number}"), &title, &ty.locals, layout, &process.locals);
        }
        for (number, object) in state.heap.iter().enumerate() {
            let number = number + 1;
            let name = self.system.records.get(object.record.index()).map_or("", |record| &record.name);
            let variables = [Variable::new("", Type::Record(object.record))];
            let layout = Layout::of(self.system, &variables);
            let title = format!("#{number}: {name}");
            self.node(&mut out, &mut edges, &format!("o{number}"), &title, &variables, &layout, &object.cells);
        }
        out + &edges + "}\n"
    }

    #[allow(clippy::too_many_arguments)]
    fn node(
        &self,
        out: &mut String,
        edges: &mut String,
        id: &str,
        title: &str,
        variables: &[Variable],
        layout: &Layout,
        values: &[i64],
    ) {
        let mut lines = vec![title.to_owned()];
        for (variable, offset) in variables.iter().zip(&layout.offsets) {
            for slot in 0..self.system.slots(&variable.ty) {
                let at = offset + slot as usize;
                let (Some(value), Some(scalar)) = (values.get(at), layout.scalars.get(at)) else { continue };
                let name = self.system.slot_name(variable, slot);
                let name = name.trim_start_matches('.');
                match scalar {
                    Scalar::Reference(_) if *value == 0 => {}
                    Scalar::Reference(_) => {
                        let _ = writeln!(edges, "    {id} -> o{value} [label=\"{}\"];", escaped(name));
                    }
                    Scalar::Channel => {}
                    _ => lines.push(format!("{name} = {}", self.system.show_value(*scalar, *value))),
                }
            }
        }
        let label: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
        let _ = writeln!(out, "    {id} [label=\"{}\\l\"];", label.join("\\l"));
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
