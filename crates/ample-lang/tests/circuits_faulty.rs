//! Faulty circuits: what is wrong with each is said, at its place; and whatever is cut off or changed in a circuit, its
//! reader answers, with messages that lie in the text or with a well-formed system.

use ample_lang::circuit::{Format, read};
use ample_lang::source::decode;
use ample_random::Random;

/// Reads a faulty text: the first message, and the text that is underlined.
fn refused(format: Format, text: &str) -> (String, String) {
    let rejected = read(format, "faulty", text).map(|_| ()).expect_err(text);
    let diagnostic = &rejected.diagnostics[0];
    let at = diagnostic.span.map_or(0..0, |span| span.start as usize..span.end as usize);
    (diagnostic.message.clone(), rejected.sources[0].text.get(at).expect("a place in the text").to_owned())
}

fn all_refused(format: Format, table: &[(&str, &str, &str)]) {
    for (text, message, underlined) in table {
        let (told, place) = refused(format, text);
        assert!(told.contains(message), "{text:?}: {told}");
        assert_eq!(place, *underlined, "{text:?}: {told}");
    }
}

#[test]
fn aiger_text() {
    let table = [
        ("", "begins with `aag` or `aig`", ""),
        ("abc", "begins with `aag` or `aig`", "abc"),
        ("a", "begins with `aag` or `aig`", "a"),
        ("aag", "at least five numbers", "aag"),
        ("aag\n", "at least five numbers", "aag"),
        ("aag 1", "this one has 1", "1"),
        ("aag 1 0 1 0", "this one has 4", "0"),
        ("aag 1 0 0 0 0 0 0 0 0 0\n", "at most nine numbers", "0"),
        ("aag x 0 0 0 0\n", "`x` is no number", "x"),
        ("aag -1 0 0 0 0\n", "M, the number of the largest variable, but `-1`", "-1"),
        ("aag 1 2e3 0 0 0\n", "I, the number of inputs, but `2e3`", "2e3"),
        ("aag 99999999999999999999 0 0 0 0\n", "at most 1073741824 are read", "99999999999999999999"),
        ("aag 1073741825 0 0 0 0\n", "at most 1073741824 are read", "1073741825"),
        ("aag 0 1 0 0 0\n2\n", "M is 0, and is less than I + L + A = 1", "aag 0 1 0 0 0"),
        ("aag 1 1 1 0 1\n2\n", "M is 1, and is less than I + L + A = 3", "aag 1 1 1 0 1"),
        ("aag 2000000 2000000 0 0 0\n", "2000000 inputs and latches", "aag 2000000 2000000 0 0 0"),
        ("aag 1000000 0 0 0 1000000\n2 0 0\n", "at least 2000000 bytes", "aag 1000000 0 0 0 1000000"),
        ("aag 0 0 0 1000000000 0\n0\n", "at least 2000000000 bytes", "aag 0 0 0 1000000000 0"),
        ("aag 0 0 0 0 0 0 0 1000 0\n", "and the file has 0 bytes behind it", "aag 0 0 0 0 0 0 0 1000 0"),
        ("aag 1 1 0 0 0\n", "at least 2 bytes", "aag 1 1 0 0 0"),
        ("aag 1 1 0 0 0\n\n2", "expected the literal of an input, but the line ends here", ""),
        ("aag 1 1 0 0 0\n2 3\n", "expected the end of the line", "3"),
        ("aag 1 1 0 0 0\n3\n", "an input is defined by an even literal that is not 0, not by 3", "3"),
        ("aag 1 1 0 0 0\n0\n", "not by 0", "0"),
        ("aag 1 1 0 0 0\n4\n", "the literal 4 is too large: M = 1 allows 3", "4"),
        ("aag 1 1 0 0 0\nx\n", "expected the literal of an input, but `x` is no number", "x"),
        ("aag 2 2 0 0 0\n2\n2\n", "the literal 2 is defined twice", "2"),
        ("aag 2 1 1 0 0\n2\n2 0\n", "the literal 2 is defined twice", "2"),
        ("aag 1 0 1 0 0\n2\n", "expected the next literal of a latch, but the line ends here", ""),
        ("aag 1 0 1 0 0\n3 2\n", "a latch is defined by an even literal", "3"),
        ("aag 1 0 1 0 0\n2 4\n", "the literal 4 is too large", "4"),
        ("aag 1 0 1 0 0\n2 2 4\n", "a latch is reset to 0, to 1, or to its own literal 2, not to 4", "4"),
        ("aag 1 0 1 0 0\n2 2 3\n", "not to 3", "3"),
        ("aag 1 0 1 0 0\n2 2 x\n", "expected a reset value", "x"),
        ("aag 1 0 1 0 0\n2 2 0 0\n", "expected the end of the line", "0"),
        ("aag 2 0 1 0 0\n2 4\n", "the literal 4 is defined nowhere", "4"),
        ("aag 1 0 0 1 0\n2\n", "the literal 2 is defined nowhere", "2"),
        ("aag 0 0 0 1 0\n2\n", "the literal 2 is too large: M = 0 allows 1", "2"),
        ("aag 0 0 0 1 0\n1 1\n", "expected the end of the line", "1"),
        ("aag 0 0 0 1 0\nfoo bar\n", "expected the literal of an output, but `foo` is no number", "foo"),
        ("aag 0 0 0 0 0 1\n5\n", "the literal 5 is too large", "5"),
        ("aag 0 0 0 0 0 1\n-\n", "expected the literal of a bad state", "-"),
        ("aag 1 0 0 0 0 0 1\n3\n", "the literal 3 is defined nowhere", "3"),
        ("aag 0 0 0 0 0 0 1\n ,\n", "expected the literal of a constraint", ","),
        ("aag 0 0 0 0 0 0 0 1\nx\n", "expected the number of literals of a justice property", "x"),
        ("aag 0 0 0 0 0 0 0 1\n2\n1\n", "expected the literal of a justice property, but the file ends here", ""),
        ("aag 0 0 0 0 0 0 0 1\n1\n2\n", "the literal 2 is too large", "2"),
        ("aag 0 0 0 0 0 0 0 1\n999999999\n1\n", "expected the literal of a justice property, but the file ends", ""),
        ("aag 0 0 0 0 0 0 0 0 1\n2\n", "the literal 2 is too large", "2"),
        ("aag 0 0 0 0 0 0 0 0 1\n?\n", "expected the literal of a fairness constraint", "?"),
        ("aag 1 0 0 0 1\n2 0\n", "expected an operand of an and gate, but the line ends here", ""),
        ("aag 1 0 0 0 1\n3 0 0\n", "an and gate is defined by an even literal", "3"),
        ("aag 1 0 0 0 1\n2 0 4\n", "the literal 4 is too large", "4"),
        ("aag 2 0 0 0 1\n2 0 4\n", "the literal 4 is defined nowhere", "4"),
        ("aag 2 0 0 0 2\n2 0 1\n2 1 1\n", "the literal 2 is defined twice", "2"),
        ("aag 1 0 0 0 1\n2 2 1\n", "`variable 1` depends on itself without a latch in between", "2"),
        ("aag 9 0 0 0 2\n12 8 1\n8 13 1\n", "without a latch in between: variable 6 -> variable 4", "12"),
        ("aag 0 0 0 0 0\nhello\n", "expected a line of the symbol table", "h"),
        ("aag 1 1 0 0 0\n2\ni1 a\n", "there is a name for number 1 of 1 inputs", "i1"),
        ("aag 1 1 0 0 0\n2\nl0 a\n", "there is a name for number 0 of 0 latches", "l0"),
        ("aag 1 1 0 0 0\n2\ni0\n", "a symbol without a name", "i0"),
        ("aag 1 1 0 0 0\n2\ni a\n", "expected the number of a symbol, but `a` is no number", "a"),
        ("aag 1 1 0 0 0\n2\ni0 a\ni0 b\n", "number 0 of the inputs has two names", "i0 b"),
        ("aag 0 0 0 1 0\n0\nb0 a\n", "there is a name for number 0 of 0 bad states", "b0"),
        ("aag 0 0 0 1 0\n0\nc0 a\n", "there is a name for number 0 of 0 constraints", "c0"),
        ("aag 0 0 0 0 0\né\n", "expected a line of the symbol table", "é"),
    ];
    assert!(table.len() >= 60);
    all_refused(Format::Aiger, &table);
}

#[test]
fn aiger_binary() {
    let table: [(&[u8], &str); 24] = [
        (b"aig ", "faulty, byte 0: a header has at least five numbers"),
        (b"aig 1 0 0 0 0\n", "M is 1, and must be I + L + A = 0"),
        (b"aig 0 1 0 0 0\n", "M is 0, and must be I + L + A = 1"),
        (b"aig 2000000 2000000 0 0 0\n", "2000000 inputs and latches"),
        (b"aig 1000000000 0 0 0 1000000000\n\x02\x00", "at least 2000000000 bytes"),
        (b"aig 1 0 1 0 0\n", "at least 2 bytes"),
        (b"aig 1 0 1 0 0\n\n\n", "byte 14: expected the next literal of a latch, but the line ends here"),
        (b"aig 1 0 1 0 0\nx\n", "byte 14: expected the next literal of a latch, but `x` is no number"),
        (b"aig 1 0 1 0 0\n4\n", "the literal 4 is too large"),
        (b"aig 1 0 1 0 0\n2 4\n", "a latch is reset to 0, to 1, or to its own literal 2, not to 4"),
        (b"aig 1 1 0 1 0\n4\n", "the literal 4 is too large"),
        (b"aig 1 1 0 1 0\n2 2\n", "byte 16: expected the end of the line"),
        (b"aig 1 0 0 0 1\n\x02", "the file ends inside the and gates"),
        (b"aig 1 0 0 0 1\n\x82", "the file ends inside the and gates"),
        (b"aig 1 0 0 0 1\n\x00\x00", "byte 14: the first difference of gate 1 is 0, and must lie between 1 and 2"),
        (b"aig 1 0 0 0 1\n\x03\x00", "the first difference of gate 1 is 3, and must lie between 1 and 2"),
        (b"aig 1 0 0 0 1\n\x01\x02", "byte 15: the second difference of gate 1 is 2, more than 1"),
        (b"aig 1 0 0 0 1\n\xff\xff\xff\xff\xff\x00\x00", "a difference of more than 32 bits"),
        (b"aig 1 0 0 0 1\n\xff\xff\xff\xff\x7f\x00", "a difference of more than 32 bits"),
        (b"aig 1 0 0 0 1\n\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "a difference of more than 32 bits"),
        (b"aig 1 0 0 0 1\n\xff\xff\xff\xff\x0f\x00", "the first difference of gate 1 is 4294967295"),
        (b"aig 1 1 0 0 0\nq0 x\n", "byte 14: expected a line of the symbol table"),
        (b"aig 1 1 0 0 0\ni1 x\n", "there is a name for number 1 of 1 inputs"),
        (b"aig 0 0 0 0 0 0 0 1\n5\n", "expected the literal of a justice property, but the file ends here"),
    ];
    for (bytes, message) in table {
        let (told, _) = refused(Format::Aiger, &decode(bytes.to_vec()));
        assert!(told.contains(message), "{bytes:?}: {told}");
        assert!(told.starts_with("faulty, byte "), "{told}");
    }
}

#[test]
fn blif() {
    let table = [
        ("", "there is no `.model`", ""),
        ("# nothing\n", "there is no `.model`", ""),
        ("hello\n", "expected a command that begins with a dot, but found `hello`", "hello"),
        (".model a b\n", "a model has one name", "b"),
        (".model a\n.end\n.inputs x\n", "expected `.model`, but found `.inputs` behind `.end`", ".inputs"),
        (".model a\n.end\n01 1\n", "expected a command that begins with a dot, but found `01`", "01"),
        (".model a\n.end\n.model a\n", "there are two models called `a`", "a"),
        (".model a\n.end\n.model b\n.end\n.model b\n", "there are two models called `b`", "b"),
        (".model a\n01 1\n", "expected a command that begins with a dot", "01"),
        (".model a\n.gate and2 A=a B=b O=c\n", "gates of a technology library are not read", ".gate"),
        (".model a\n.mlatch dff D=a Q=b\n", "gates of a technology library are not read", ".mlatch"),
        (".model a\n.search b.blif\n", "other files are not read", ".search"),
        (".model a\n.start_kiss\n", "state tables (KISS) are not read", ".start_kiss"),
        (".model a\n.blackbox\n", "a black box has no meaning here", ".blackbox"),
        (".model a\n.nmaes x\n", "`.nmaes` is no command of BLIF", ".nmaes"),
        (".model a\n.foo\n", "`.foo` is no command of BLIF", ".foo"),
        (".model a\n.\n", "`.` is no command", "."),
        (".model a\n.names\n", "`.names` has the name of an output at least", ".names"),
        (".model a\n.inputs x\n.names x y\n1\n", "a row of `y` has input values and an output value", "1"),
        (".model a\n.inputs x\n.names x y\n1 1 1\n", "a row of `y` has input values and an output value", "1 1 1"),
        (".model a\n.inputs x\n.names x y\n11 1\n", "has 1 input values, and this one has 2", "11"),
        (".model a\n.inputs x z\n.names x z y\n1 1\n", "has 2 input values, and this one has 1", "1"),
        (".model a\n.inputs x\n.names x y\nx 1\n", "an input value is 0, 1 or -, not `x`", "x"),
        (".model a\n.inputs x z\n.names x z y\n1é 1\n", "an input value is 0, 1 or -, not `é`", "é"),
        (".model a\n.inputs x\n.names x y\n1 2\n", "the output value of a row is 0 or 1, not `2`", "2"),
        (".model a\n.inputs x\n.names x y\n1 11\n", "the output value of a row is 0 or 1, not `11`", "11"),
        (".model a\n.inputs x\n.names x y\n1 1\n0 0\n", "do not all have the same output value", "0"),
        (".model a\n.names y\n1 1\n", "a row of `y` has an output value", "1 1"),
        (".model a\n.names y\nx1\n", "the output value of a row is 0 or 1, not `x1`", "x1"),
        (".model a\n.latch x\n", "a latch is `.latch input output [type control] [init]`", "x"),
        (".model a\n.latch\n", "a latch is `.latch input output", ".latch"),
        (".model a\n.latch x y re c 0 0\n", "a latch is `.latch input output", "0"),
        (".model a\n.latch y y 4\n", "a latch starts with 0, 1, 2 (either) or 3 (unknown), not with `4`", "4"),
        (".model a\n.latch y y one\n", "not with `one`", "one"),
        (".model a\n.latch y y re\n", "not with `re`", "re"),
        (".model a\n.latch y y up c 0\n", "the type of a latch is `re`, `fe`, `ah`, `al` or `as`, not `up`", "up"),
        (".model a\n.latch y y re c x\n", "not with `x`", "x"),
        (".model a\n.latch x y 0\n", "nothing drives `x`", "x"),
        (".model a\n.outputs x\n", "nothing drives `x`", "x"),
        (".model a\n.names x y\n1 1\n", "nothing drives `x`", "x"),
        (".model a\n.inputs x x\n", "`x` is driven twice", "x"),
        (".model a\n.inputs x\n.names x\n", "`x` is driven twice", "x"),
        (".model a\n.inputs x\n.latch x x\n", "`x` is driven twice", "x"),
        (".model a\n.names x\n1\n.names x\n0\n", "`x` is driven twice", "x"),
        (".model a\n.names y y\n1 1\n", "`y` depends on itself without a latch in between", "y"),
        (
            ".model a\n.names b a\n1 1\n.names a b\n1 1\n",
            "depend on each other without a latch in between: a -> b",
            "a",
        ),
        (".model a\n.subckt\n", "`.subckt` has the name of a model", ".subckt"),
        (".model a\n.subckt b\n", "there is no model `b`", "b"),
        (".model a\n.subckt a\n", "the model `a` uses itself", "a"),
        (".model a\n.subckt b\n.end\n.model b\n.subckt a\n", "the model `a` uses itself", "a"),
        (".model a\n.subckt b\n.model b\n.subckt c\n.model c\n.subckt b\n", "the model `b` uses itself", "b"),
        (".model a\n.subckt b x\n.model b\n", "expected `formal=actual`, but found `x`", "x"),
        (".model a\n.subckt b x=\n.model b\n", "expected `formal=actual`, but found `x=`", "x="),
        (".model a\n.subckt b =x\n.model b\n", "expected `formal=actual`, but found `=x`", "=x"),
        (".model a\n.inputs p\n.subckt b x=p\n.model b\n", "the model `b` has no input or output `x`", "x"),
        (".model a\n.subckt b\n.model b\n.inputs x\n", "the input `x` of the model `b` is not connected", "b"),
        (".model a\n.inputs p\n.subckt b x=p x=p\n.model b\n.inputs x\n", "`x` is connected twice", "x"),
        (".model a\n.subckt b x=q\n.model b\n.inputs x\n.names x y\n1 1\n", "nothing drives `x`", "x"),
        (".model a\n.inputs q\n.subckt b x=q\n.model b\n.outputs x\n.names x\n1\n", "`q` is driven twice", "x"),
        (".model a\n.conn x\n", "`.conn` has the names of two signals", ".conn"),
        (".model a\n.conn x y\n", "nothing drives `x`", "x"),
        (".model a\n.inputs \\\nx \\\nx\n", "`x` is driven twice", "x"),
    ];
    assert!(table.len() >= 60);
    all_refused(Format::Blif, &table);
}

#[test]
fn bench() {
    let table = [
        ("INPUT", "expected `=`, but the line ends here", ""),
        ("INPUT(", "expected the name of a signal, but the line ends here", ""),
        ("INPUT()", "expected the name of a signal, but found `)`", ")"),
        ("INPUT(a", "expected `)`, but the line ends here", ""),
        ("INPUT(a,b)", "expected `)`, but found `,`", ","),
        ("INPUT(a b)", "expected `)`, but found `b`", "b"),
        ("INPUT(a) b", "expected the end of the line, but found `b`", "b"),
        ("INPUT(a))", "expected the end of the line, but found `)`", ")"),
        ("INPUT a", "expected `=`, but found `a`", "a"),
        ("INPUTS(a)", "expected `INPUT`, `OUTPUT` or `=` behind a name, but found `INPUTS(`", "INPUTS"),
        ("OUTPUT", "expected `=`, but the line ends here", ""),
        ("OUTPUT(", "expected the name of a signal, but the line ends here", ""),
        ("OUTPUT()", "expected the name of a signal, but found `)`", ")"),
        ("OUTPUT(a", "expected `)`, but the line ends here", ""),
        ("OUTPUT(a) = NOT(b)", "expected the end of the line, but found `=`", "="),
        ("AND(a, b)", "expected `INPUT`, `OUTPUT` or `=` behind a name, but found `AND(`", "AND"),
        ("(a)", "expected `INPUT`, `OUTPUT` or the name of a signal, but found `(`", "("),
        (")", "expected `INPUT`, `OUTPUT` or the name of a signal, but found `)`", ")"),
        (", a", "expected `INPUT`, `OUTPUT` or the name of a signal, but found `,`", ","),
        ("= NOT(a)", "expected `INPUT`, `OUTPUT` or the name of a signal, but found `=`", "="),
        ("a", "expected `=`, but the line ends here", ""),
        ("a b = NOT(c)", "expected `=`, but found `b`", "b"),
        ("a =", "expected the name of a gate, but the line ends here", ""),
        ("a = (b)", "expected the name of a gate, but found `(`", "("),
        ("a == NOT(b)", "expected the name of a gate, but found `=`", "="),
        ("a = b c", "expected `(`, but found `c`", "c"),
        ("a = b", "`b` is no gate", "b"),
        ("a = MUX(b, c, d)", "`MUX` is no gate", "MUX"),
        ("a = NOT", "`NOT` has one operand, and this one has 0 operands", "NOT"),
        ("a = NOT()", "`NOT` has one operand, and this one has 0 operands", "NOT"),
        ("a = NOT(b, c)", "`NOT` has one operand, and this one has 2 operands", "NOT"),
        ("a = BUF()", "`BUF` has one operand", "BUF"),
        ("a = BUFF(b, c)", "`BUFF` has one operand", "BUFF"),
        ("a = DFF()", "`DFF` has one operand", "DFF"),
        ("a = DFF(b, c)", "`DFF` has one operand", "DFF"),
        ("a = dff(b, c)", "`dff` has one operand", "dff"),
        ("a = AND()", "`AND` has operands, and this one has 0 operands", "AND"),
        ("a = OR", "`OR` has operands, and this one has 0 operands", "OR"),
        ("a = NAND()", "`NAND` has operands", "NAND"),
        ("a = NOR()", "`NOR` has operands", "NOR"),
        ("a = XOR()", "`XOR` has operands", "XOR"),
        ("a = XNOR()", "`XNOR` has operands", "XNOR"),
        ("a = VDD(b)", "`VDD` has no operands, and this one has 1 operand", "VDD"),
        ("a = GND(b)", "`GND` has no operands, and this one has 1 operand", "GND"),
        ("a = AND(", "expected the name of a signal, but the line ends here", ""),
        ("a = AND(b", "expected `,` or `)`, but the line ends here", ""),
        ("a = AND(b c)", "expected `,` or `)`, but found `c`", "c"),
        ("a = AND(b,)", "expected the name of a signal, but found `)`", ")"),
        ("a = AND(,b)", "expected the name of a signal, but found `,`", ","),
        ("a = AND(b,,c)", "expected the name of a signal, but found `,`", ","),
        ("a = AND(b, c) d", "expected the end of the line, but found `d`", "d"),
        ("a = AND(b, c # d)", "expected `,` or `)`, but the line ends here", ""),
        ("INPUT(a)\nINPUT(a)", "`a` is driven twice", "a"),
        ("INPUT(a)\na = NOT(a)", "`a` is driven twice", "a"),
        ("INPUT(b)\na = NOT(b)\na = BUF(b)", "`a` is driven twice", "a"),
        ("INPUT(b)\na = DFF(b)\na = DFF(b)", "`a` is driven twice", "a"),
        ("INPUT(b)\na = NOT(b) # fine\na = NOT(b)", "`a` is driven twice", "a"),
        ("a = DFF(b)\nb = AND(a, b)", "`b` depends on itself without a latch in between", "b"),
        ("INPUT(b)\na = nand()", "`nand` has operands, and this one has 0 operands", "nand"),
        ("a = NAND(b))", "expected the end of the line, but found `)`", ")"),
        ("a = XOR(b = c)", "expected `,` or `)`, but found `=`", "="),
        ("a = NOT(a)", "`a` depends on itself without a latch in between", "a"),
        ("a = NOT(b)\nb = NOT(a)", "depend on each other without a latch in between: a -> b", "a"),
        ("INPUT(x)\na = AND(x, b)\nb = OR(c, x)\nc = NOT(a)", "in between: a -> b -> c", "a"),
    ];
    assert!(table.len() >= 60);
    all_refused(Format::Bench, &table);
}

#[test]
fn signals_of_bench_files_that_nothing_drives_are_0_with_a_warning() {
    for (text, name) in [("OUTPUT(a)", "a"), ("a = NOT(b)", "b"), ("INPUT(b)\na = AND(b, B)", "B"), ("ä = NOT(ö)", "ö")]
    {
        let circuit = read(Format::Bench, "m.bench", text).expect(text);
        let told: Vec<&str> = circuit.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(told, [format!("nothing drives `{name}`: it is always 0")], "{text}");
    }
}

/// Sound circuits, to be damaged.
fn sound() -> Vec<(Format, Vec<u8>)> {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/circuits");
    let file = |name: &str| std::fs::read(models.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    vec![
        (Format::Aiger, file("fifo.aag")),
        (Format::Aiger, b"aig 5 2 1 1 2 1 1 1\n10 1\n8\n6\n1\n1\n4\n\x02\x02\x02\x03i0 a\nl0 q\nc\nx".to_vec()),
        (Format::Blif, file("arbiter.blif")),
        (Format::Blif, file("traffic.blif")),
        (Format::Bench, file("counter.bench")),
    ]
}

fn answers(format: Format, bytes: Vec<u8>) {
    let text = decode(bytes);
    match read(format, "damaged", &text) {
        Ok(circuit) => {
            ample_model::check::check(&circuit.system).expect("a circuit that is read is a well-formed system");
        }
        Err(rejected) => {
            assert!(!rejected.diagnostics.is_empty());
            let source = &rejected.sources[0].text;
            for span in rejected.diagnostics.iter().filter_map(|diagnostic| diagnostic.span) {
                assert!(span.start <= span.end && span.end as usize <= source.len(), "{span:?} {text:?}");
                assert!(source.is_char_boundary(span.start as usize), "{span:?} {text:?}");
            }
        }
    }
}

#[test]
fn prefixes_are_answered() {
    for (format, bytes) in sound() {
        read(format, "sound", &decode(bytes.clone())).unwrap_or_else(|rejected| panic!("{format:?}: {rejected}"));
        for end in 0..bytes.len() {
            answers(format, bytes[..end].to_vec());
        }
    }
}

#[test]
fn damaged_files_are_answered() {
    let pieces: [&[u8]; 16] = [
        b"",
        b"0",
        b"1",
        b"-",
        b"99999999999999999999",
        b" ",
        b"\n",
        b".",
        b"=",
        b"(",
        b")",
        b"\xc3\xa9",
        b"\xff",
        b"\0",
        b"\\\n",
        b"#",
    ];
    for (format, bytes) in sound() {
        let mut random = Random::new(2026);
        for _ in 0..1_500 {
            let mut changed = bytes.clone();
            for _ in 0..=random.below(3) {
                let from = random.below(changed.len().max(1)).min(changed.len());
                let to = (from + random.below(6)).min(changed.len());
                changed.splice(from..to, pieces[random.below(pieces.len())].iter().copied());
            }
            answers(format, changed);
        }
    }
}
