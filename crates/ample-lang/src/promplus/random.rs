//! Random programs in PROM+, for tests of everything that works on objects.

use ample_random::Random;

/// The random program of that seed.
///
/// It has two types of records and pointers to them and to basic types, and processes that create, follow, share and forget
/// objects. Every other program follows pointers only where they refer to something.
///
/// ```
/// let text = ample_lang::promplus::random::program(7);
/// assert_eq!(text, ample_lang::promplus::random::program(7));
/// ```
pub fn program(seed: u64) -> String {
    let mut maker =
        Maker { random: Random::new(seed ^ 0x9e37), text: String::new(), tame: seed.is_multiple_of(2), locals: false };
    maker.program();
    maker.text
}

struct Maker {
    random: Random,
    text: String,
    /// Pointers are followed only where they refer to something.
    tame: bool,
    /// The statement is one of `Q`, with parameters.
    locals: bool,
}

impl Maker {
    fn program(&mut self) {
        self.text.push_str("typedef Node { bit mark; Node *next; byte *value }\n");
        self.text.push_str("byte g, *p, *q;\nbit h, *b;\nNode *m, *n;\nNode *table[2];\n");
        let active = 1 + self.random.below(2);
        self.body(&format!("active [{active}] proctype P() {{\n    byte x, *l;\n    Node *o;\n"), false);
        self.body("active [0] proctype Q(byte *l; Node *o) {\n    bit x;\n", true);
        if self.random.below(2) == 0 {
            self.body("active [1] proctype R() {\n    byte x, *l;\n    Node *o;\n", false);
        }
    }

    fn body(&mut self, head: &str, locals: bool) {
        self.locals = locals;
        self.text.push_str(head);
        for _ in 0..2 + self.random.below(4) {
            self.statement(0);
        }
        self.text.push_str("}\n");
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.text.push_str(&"    ".repeat(depth + 1));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn bytes(&mut self) -> String {
        self.random.pick(&["p", "q", "l", "p", "m.value", "n.next.value", "table[1].value"]).into()
    }

    fn nodes(&mut self) -> String {
        self.random.pick(&["m", "n", "o", "m.next", "n.next", "o.next", "table[0]", "table[g % 2]"]).into()
    }

    /// What must refer to something before the pointer can be looked at.
    fn owners(pointer: &str) -> Vec<String> {
        let parts: Vec<&str> = pointer.split('.').collect();
        (1..parts.len()).map(|length| parts[..length].join(".")).collect()
    }

    /// A statement that looks at these pointers, after it is clear that they refer to something.
    fn guarded(&mut self, depth: usize, needed: Vec<String>, statement: &str) {
        if !self.tame || needed.is_empty() {
            return self.line(depth, statement);
        }
        let condition: Vec<String> = needed.iter().map(|pointer| format!("{pointer} != null")).collect();
        self.line(depth, "if");
        // Another process may come between the two, unless both are one step.
        let both = format!(":: atomic {{ {} -> {statement} }};", condition.join(" && "));
        self.line(depth, &both);
        self.line(depth, ":: else -> skip;");
        self.line(depth, "fi;");
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth > 1 { 11 } else { 14 }) {
            0 => {
                let p = self.bytes();
                self.guarded(depth, Self::owners(&p), &format!("{p} = new byte;"));
            }
            1 | 2 => {
                let n = self.nodes();
                self.guarded(depth, Self::owners(&n), &format!("{n} = new Node;"));
            }
            3 => {
                let p = if self.random.below(2) == 0 { self.bytes() } else { self.nodes() };
                self.guarded(depth, Self::owners(&p), &format!("reset {p};"));
            }
            4 => {
                let (x, y) = (self.bytes(), self.bytes());
                let needed = [Self::owners(&x), Self::owners(&y)].concat();
                self.guarded(depth, needed, &format!("{x} = {y};"));
            }
            5 | 6 => {
                let (x, y) = (self.nodes(), self.nodes());
                let needed = [Self::owners(&x), Self::owners(&y)].concat();
                self.guarded(depth, needed, &format!("{x} = {y};"));
            }
            7 => {
                let p = self.bytes();
                let needed = [Self::owners(&p), vec![p.clone()]].concat();
                let statement = self.random.pick(&["*P = (*P + 1) % 3;", "g = *P;", "*P = g;", "x = *P + g;"]);
                self.guarded(depth, needed, &statement.replace('P', &p));
            }
            8 => {
                let n = self.nodes();
                let needed = [Self::owners(&n), vec![n.clone()]].concat();
                let statement = self.random.pick(&["N.mark = !N.mark;", "h = N.mark;", "N.mark = 1;"]);
                self.guarded(depth, needed, &statement.replace('N', &n));
            }
            9 => {
                let statement = self.random.pick(&[
                    "g = (g + 1) % 3;",
                    "h = !h;",
                    "x = g;",
                    "assert(m != n || m == null || g < 2);",
                    "assert(h == 0 || p != q);",
                    "b = new bit;",
                    "b = null;",
                    "skip;",
                ]);
                self.line(depth, statement);
            }
            10 if self.locals => self.line(depth, "g = 0;"),
            10 => self.line(depth, "run Q(p, m);"),
            11 => {
                self.line(depth, "if");
                let condition = self.random.pick(&["m == n", "p != null", "g == 1", "h", "o == table[0]"]);
                self.line(depth, &format!(":: {condition} ->"));
                self.statement(depth + 1);
                let other = self.random.pick(&["else", "skip", "g == 0"]);
                self.line(depth, &format!(":: {other} ->"));
                self.statement(depth + 1);
                self.line(depth, "fi;");
            }
            12 => {
                self.line(depth, "do");
                self.line(depth, ":: skip ->");
                self.statement(depth + 1);
                self.line(depth, ":: h == 0 -> break;");
                self.line(depth, "od;");
            }
            _ => {
                self.line(depth, "atomic {");
                self.statement(depth + 1);
                self.statement(depth + 1);
                self.line(depth, "};");
            }
        }
    }
}
