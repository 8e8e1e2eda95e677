//! Petri nets: what a file becomes, with and without colours, and what formulas about it become.

use ample_lang::pnml::{self, Examination, Unfolded};
use ample_lang::{Diagnostic, Severity};
use ample_model::interpret::explore;
use ample_model::{Question, Scalar, Temporal, Type};
use ample_petri::net::Net;

fn file(kind: &str, body: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/{kind}\">{body}</net></pnml>"
    )
}

/// A net without colours. Line 3 begins with the net itself.
fn plain(body: &str) -> String {
    file("ptnet", &format!("<page id=\"g\">{body}</page>"))
}

fn place(id: &str, tokens: u64) -> String {
    format!("<place id=\"{id}\"><initialMarking><text> {tokens} </text></initialMarking></place>")
}

fn arc(source: &str, target: &str, weight: u64) -> String {
    let inscription = format!("<inscription><text>{weight}</text></inscription>");
    let inscription = if weight == 1 { "" } else { &inscription };
    format!("<arc id=\"{source}-{target}\" source=\"{source}\" target=\"{target}\">{inscription}</arc>")
}

fn accepted(text: &str) -> Unfolded {
    let net = pnml::read("n.pnml", text).unwrap_or_else(|rejected| panic!("{:#?}\n{text}", rejected.diagnostics));
    ample_model::check::check(&net.system).expect("a net is a well-formed system");
    assert!(Net::of(&net.system).is_some(), "a net is recognised as one");
    net
}

fn shown(diagnostic: &Diagnostic, text: &str) -> String {
    let span = diagnostic.span.expect("a message has a place");
    let source = ample_model::Source { path: String::new(), text: text.to_owned() };
    let (line, column) = source.position(span.start);
    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
    format!("{line}:{column}: {}{help}", diagnostic.message)
}

fn errors(text: &str) -> Vec<String> {
    match pnml::read("n.pnml", text) {
        Ok(_) => Vec::new(),
        Err(rejected) => {
            let errors = rejected.diagnostics.iter().filter(|one| one.severity == Severity::Error);
            errors.map(|error| shown(error, text)).collect()
        }
    }
}

fn states(net: &Unfolded) -> u64 {
    explore(&net.system, 100_000).states
}

#[test]
fn a_net_becomes_a_process_that_stands_still() {
    let body = [place("p", 3), place("q", 0), "<transition id=\"t\"/>".into(), arc("p", "t", 2), arc("t", "q", 1)];
    let net = accepted(&plain(&body.concat()));
    let found = Net::of(&net.system).unwrap();
    assert_eq!(found.initial(), [3, 0]);
    assert_eq!((found.places[1].name.as_str(), found.places[1].bound), ("q", None));
    assert_eq!(
        (found.transitions[0].takes.as_slice(), found.transitions[0].adds.as_slice()),
        (&[(0, 2)][..], &[(1, 1)][..])
    );
    assert_eq!(net.system.language, "pnml");
    assert!(net.system.dead_ends && net.system.globals[0].span.is_some());
    assert_eq!(net.names.places["q"].len(), 1);
    assert_eq!(states(&net), 2);
}

#[test]
fn what_is_taken_and_put_back_is_only_tested() {
    let body = [place("p", 1), "<transition id=\"t\"/>".into(), arc("p", "t", 1), arc("t", "p", 1)];
    let net = accepted(&plain(&body.concat()));
    assert!(net.system.processes[0].edges[0].effect.is_empty());
    assert_eq!(net.system.processes[0].edges[0].guard.len(), 1);
}

#[test]
fn arcs_side_by_side_count_together() {
    let body = [place("p", 5), "<transition id=\"t\"/>".into(), arc("p", "t", 1), arc("p", "t", 2), arc("t", "p", 1)];
    let net = Net::of(&accepted(&plain(&body.concat())).system).unwrap();
    assert_eq!(net.transitions[0].takes, [(0, 3)]);
    assert_eq!(net.transitions[0].effect(), [(0, -2)]);
}

#[test]
fn pages_are_one_net_and_references_lead_to_their_nodes() {
    let body = format!(
        "{}<page id=\"inner\"><transition id=\"t\"/><referencePlace id=\"r\" ref=\"s\"/>\
         <referenceTransition id=\"u\" ref=\"t\"/>{}</page><referencePlace id=\"s\" ref=\"p\"/>{}",
        place("p", 1),
        arc("r", "t", 1),
        arc("u", "s", 1)
    );
    let net = Net::of(&accepted(&plain(&body)).system).unwrap();
    assert_eq!(net.places.len(), 1);
    assert_eq!(
        (net.transitions[0].takes.as_slice(), net.transitions[0].adds.as_slice()),
        (&[(0, 1)][..], &[(0, 1)][..])
    );
}

#[test]
fn names_may_hold_anything_that_xml_can_write() {
    let text = plain("<place id=\"a&lt;b &amp; &#x63;\"/><!-- <place id=\"no\"/> -->");
    assert_eq!(accepted(&text).system.globals[0].name, "a<b & c");
    assert_eq!(accepted(&format!("\u{feff}{text}")).system.globals.len(), 1);
    let prefixed = "<x:pnml xmlns:x=\"u\"><x:net id=\"n\" type=\"ptnet\">\
        <x:page id=\"g\"><x:place id=\"p\"/></x:page></x:net>\
        </x:pnml>";
    assert_eq!(accepted(prefixed).system.globals.len(), 1);
}

/// Units: `u0` holds `p0` and the units `u1` and `u2`.
fn units(safe: &str, inner: &str) -> String {
    let unit = |id: &str, places: &str, units: &str| {
        format!("<unit id=\"{id}\"><places>{places}</places><subunits>{units}</subunits></unit>")
    };
    let structure = format!(
        "<toolspecific tool=\"nupn\" version=\"1.1\">\
         <structure units=\"3\" root=\"u0\" safe=\"{safe}\">{}{}{}</structure>\
         </toolspecific>",
        unit("u0", "p0", "u1 u2"),
        unit("u1", "p1\np2", ""),
        unit("u2", inner, "")
    );
    let places = [place("p0", 0), place("p1", 1), place("p2", 0), place("p3", 1)].concat();
    plain(&format!("{places}{structure}"))
}

#[test]
fn units_say_which_places_exclude_each_other() {
    let net = accepted(&units("true", "p3"));
    let sets: Vec<Vec<u32>> =
        net.system.exclusive.iter().map(|set| set.iter().map(|place| place.0).collect()).collect();
    assert_eq!(sets, [vec![0, 1, 2], vec![0, 3]]);
    assert!(matches!(net.system.globals[0].ty, Type::Scalar(Scalar::Range { low: 0, high: 1, .. })));
    assert_eq!(net.warnings, []);
    let net = accepted(&units("false", "p3"));
    assert!(net.system.exclusive.is_empty() && net.system.globals[0].ty == Type::Scalar(Scalar::Unbounded));
}

#[test]
fn units_that_are_none_are_not_believed() {
    let text = units("true", "p3");
    for (from, to, message) in [
        (">p3<", "><", "the place `p3` is in no unit"),
        (">p3<", ">p3 p2<", "the place `p2` is in two units"),
        (">p3<", ">p4<", "there is no place `p4`"),
        ("root=\"u0\"", "root=\"u9\"", "there is no unit `u9`"),
        ("u1 u2", "u1", "a unit that is not part of the root"),
        ("u1 u2", "u1 u2 u0", "a unit that is part of two units, or of itself"),
        ("safe=\"true\"", "safe=\"maybe\"", "`safe` is `maybe`: expected true or false"),
        (
            "id=\"p0\"><initialMarking><text> 0",
            "id=\"p0\"><initialMarking><text> 2",
            "the net is said to be safe, and `p0` holds 2 tokens",
        ),
        (
            "id=\"p2\"><initialMarking><text> 0",
            "id=\"p2\"><initialMarking><text> 1",
            "`p1` and `p2` are marked at once and in one unit",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let net = accepted(&text.replace(from, to));
        assert_eq!(net.warnings[0].message, format!("the units of the net are not used: {message}"));
        assert!(net.system.exclusive.is_empty() && net.system.globals[0].ty == Type::Scalar(Scalar::Unbounded));
    }
}

#[test]
fn faults_are_told_with_their_place() {
    let (p, t) = ("<place id=\"p\"/>", "<transition id=\"t\"/>");
    let cases: Vec<(String, &str)> = vec![
        (
            plain(&format!("{p}\n<place id=\"q\"/>{}", arc("p", "q", 1))),
            "4:16: an arc between two places, `p` and `q` (arcs are between a place and a transition)",
        ),
        (
            plain(&format!("{t}\n<transition id=\"u\"/>{}", arc("t", "u", 1))),
            "4:21: an arc between two transitions, `t` and `u` (arcs are between a place and a transition)",
        ),
        (plain(&format!("{p}{t}\n{}", arc("p", "tt", 1))), "4:1: there is no node `tt`"),
        (plain(&format!("{p}\n<place id=\"p\"/>")), "4:1: a second node with the id `p`"),
        (plain(&format!("{p}\n<transition id=\"p\"/>")), "4:1: a second node with the id `p`"),
        (plain("\n<place/>"), "4:1: `<place>` has no attribute `id`"),
        (plain(&format!("\n{}", arc("p", "t", 0))), "5:1: the weight of an arc is 0, and must be at least 1"),
        (
            plain("<place id=\"p\">\n<initialMarking><text>-1</text></initialMarking></place>"),
            "4:17: the initial marking is `-1`: expected a number that is not negative",
        ),
        (
            plain("<place id=\"p\">\n<initialMarking><text>281474976710657</text></initialMarking></place>"),
            "4:17: the initial marking is 281474976710657: more than 2^48 tokens are not supported",
        ),
        (
            plain("<place id=\"p\">\n<initialMarking><text>99999999999999999999999</text></initialMarking></place>"),
            "4:17: the initial marking is 99999999999999999999999: more than 2^48 tokens are not supported",
        ),
        (
            plain("<place id=\"p\">\n<initialMarking><text/></initialMarking></place>"),
            "4:17: the initial marking is empty: expected a number",
        ),
        (
            plain("\n<arc id=\"a\" source=\"p\" target=\"t\" type=\"inhibitor\"/>"),
            "4:1: arcs of the type `inhibitor` are not supported \
             (only arcs that take tokens from a place or add tokens to one are)",
        ),
        (
            plain("\n<arc id=\"a\" source=\"p\" target=\"t\"><type value=\"reset\"/></arc>"),
            "4:1: arcs of the type `reset` are not supported \
             (only arcs that take tokens from a place or add tokens to one are)",
        ),
        (
            plain("\n<arc id=\"a\" source=\"p\" target=\"t\"><arctype><text>read</text></arctype></arc>"),
            "4:1: arcs of the type `read` are not supported \
             (only arcs that take tokens from a place or add tokens to one are)",
        ),
        (
            plain("<place id=\"p\">\n<capacity><text>3</text></capacity></place>"),
            "4:1: `<capacity>` at a `<place>` is not supported \
             (it is not part of PNML, and without it this would be another net)",
        ),
        (
            plain("<place id=\"p\">\n<hlinitialMarking/></place>"),
            "4:1: `<hlinitialMarking>` at a `<place>` of a place/transition net",
        ),
        (plain("\n<referencePlace id=\"r\" ref=\"r\"/>"), "4:1: the reference `r` leads to no node"),
        (
            plain(&format!("{t}\n<referencePlace id=\"r\" ref=\"t\"/>")),
            "4:1: the reference `r` to a place leads to the transition `t`",
        ),
        (plain("\n<referencePlace id=\"r\" ref=\"x\"/>"), "4:1: there is no node `x`"),
        (
            file("PT-HLPNG", ""),
            "3:1: nets of the type `http://www.pnml.org/version-2009/grammar/PT-HLPNG` are not read \
             (place/transition nets (`…/ptnet`) and symmetric nets (`…/symmetricnet`) are)",
        ),
        ("<pnml>\n</pnml>".into(), "1:1: there is no `<net>` in this file"),
        ("<pnml><net id=\"n\"/></pnml>".into(), "1:7: `<net>` has no attribute `type`"),
        ("".into(), "1:1: the file has no XML element: it is no PNML"),
        (
            "<property-set/>".into(),
            "1:1: expected `<pnml>`, found `<property-set>` (these are formulas, not a net: `--formulas FILE`)",
        ),
        (
            "<pnml><net id=\"n\" type=\"ptnet\"/><net id=\"m\" type=\"ptnet\"/></pnml>".into(),
            "1:33: a second net in one file (only one is read)",
        ),
        (
            plain("<place id=\"p\">\n</plac>"),
            "4:1: expected `</place>`, found `</plac>` (`<place>` was opened in line 3)",
        ),
        (
            "<pnml>\n<net id=\"n\" type=\"ptnet\">".into(),
            "2:1: the file ends before `</net>` (this element is not closed)",
        ),
        (plain("\n<!-- no end"), "4:1: this comment is not closed"),
        (plain("<place id=\"p\">\n<name><text>&huge;</text></name></place>"), "4:13: `&huge;` is not known"),
        (format!("{}\n<more/>", plain("")), "4:1: the file goes on after `</pnml>`"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in &cases {
        let found = errors(text);
        if found != [*expected]
            && !(expected.contains("weight") && found.iter().any(|one| one.contains(&expected[5..])))
        {
            wrong.push(format!("{text}\n  expected {expected}\n  found {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_known_and_harmless_is_warned_about() {
    let net = accepted(&plain("<place id=\"p\"><colour/></place><label/>"));
    let messages: Vec<&str> = net.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        ["`<colour>` at a `<place>` is not known, and left out", "`<label>` is not known, and left out"]
    );
}

// Colours.

/// Sorts `three` (a, b, c in a circle), `number` (1 to 4), `pair` of both, variables `x` and `y` of the first, `n` of
/// the second, `z` of the third.
const DECLARATIONS: &str = "<declaration><structure><declarations>\
    <namedsort id=\"pair\" name=\"Pair\"><productsort>\
    <usersort declaration=\"three\"/><usersort declaration=\"number\"/></productsort></namedsort>\
    <namedsort id=\"three\" name=\"Three\"><cyclicenumeration>\
    <feconstant id=\"ta\" name=\"a\"/><feconstant id=\"tb\" name=\"b\"/>\
    <feconstant id=\"tc\" name=\"c\"/></cyclicenumeration></namedsort>\
    <namedsort id=\"number\" name=\"Number\"><finiteintrange start=\"1\" end=\"4\"/></namedsort>\
    <partition id=\"half\" name=\"half\"><usersort declaration=\"number\"/>\
    <partitionelement id=\"low\" name=\"low\">NUMBER1NUMBER2</partitionelement>\
    <partitionelement id=\"high\" name=\"high\">NUMBER3NUMBER4</partitionelement></partition>\
    <variabledecl id=\"x\" name=\"x\"><usersort declaration=\"three\"/></variabledecl>\
    <variabledecl id=\"y\" name=\"y\"><usersort declaration=\"three\"/></variabledecl>\
    <variabledecl id=\"n\" name=\"n\"><usersort declaration=\"number\"/></variabledecl>\
    <variabledecl id=\"z\" name=\"z\"><usersort declaration=\"pair\"/></variabledecl>\
    </declarations></structure></declaration>";

fn number(value: i64) -> String {
    format!(
        "<finiteintrangeconstant value=\"{value}\"><finiteintrange start=\"1\" end=\"4\"/></finiteintrangeconstant>"
    )
}

fn term(name: &str, operands: &[&str]) -> String {
    let subterms: String = operands.iter().map(|operand| format!("<subterm>{operand}</subterm>")).collect();
    format!("<{name}>{subterms}</{name}>")
}

fn variable(name: &str) -> String {
    format!("<variable refvariable=\"{name}\"/>")
}

fn constant(name: &str) -> String {
    format!("<useroperator declaration=\"{name}\"/>")
}

fn all(sort: &str) -> String {
    format!("<all><usersort declaration=\"{sort}\"/></all>")
}

fn times(count: u64, what: &str) -> String {
    term("numberof", &[&format!("<numberconstant value=\"{count}\"><positive/></numberconstant>"), what])
}

fn coloured_place(id: &str, sort: &str, marking: &str) -> String {
    let sort = if sort == "dot" { "<dot/>".to_owned() } else { format!("<usersort declaration=\"{sort}\"/>") };
    let marking = match marking {
        "" => String::new(),
        marking => format!("<hlinitialMarking><structure>{marking}</structure></hlinitialMarking>"),
    };
    format!("<place id=\"{id}\"><type><structure>{sort}</structure></type>{marking}</place>")
}

fn coloured_arc(source: &str, target: &str, inscription: &str) -> String {
    format!(
        "<arc id=\"{source}-{target}\" source=\"{source}\" target=\"{target}\"><hlinscription><structure>{inscription}\
         </structure></hlinscription></arc>"
    )
}

fn guarded(id: &str, condition: &str) -> String {
    format!("<transition id=\"{id}\"><condition><structure>{condition}</structure></condition></transition>")
}

fn coloured(body: &[String]) -> String {
    let mut declarations = DECLARATIONS.to_owned();
    for value in 1..=4 {
        declarations = declarations.replace(&format!("NUMBER{value}"), &number(value));
    }
    file("symmetricnet", &format!("{declarations}<page id=\"g\">{}</page>", body.concat()))
}

fn place_names(net: &Unfolded) -> Vec<&str> {
    net.system.globals.iter().map(|place| place.name.as_str()).collect()
}

fn transition_names(net: &Unfolded) -> Vec<&str> {
    net.system.processes[0].edges.iter().map(|edge| edge.label.as_str()).collect()
}

#[test]
fn every_colour_is_a_place_and_every_binding_a_transition() {
    let next = term("successor", &[&variable("x")]);
    let net = accepted(&coloured(&[
        coloured_place("P", "three", &times(2, &constant("ta"))),
        "<transition id=\"t\"/>".into(),
        coloured_arc("P", "t", &variable("x")),
        coloured_arc("t", "P", &next),
    ]));
    assert_eq!(place_names(&net), ["P_a", "P_b", "P_c"]);
    assert_eq!(transition_names(&net), ["t_a", "t_b", "t_c"]);
    assert_eq!(net.names.places["P"].len(), 3);
    assert_eq!(Net::of(&net.system).unwrap().initial(), [2, 0, 0]);
    // Two tokens that are alike, on three places.
    assert_eq!(states(&net), 6);
}

#[test]
fn colours_that_never_come_have_no_places() {
    let net = accepted(&coloured(&[
        coloured_place("P", "pair", &term("tuple", &[&constant("tb"), &number(3)])),
        coloured_place("Q", "pair", ""),
        coloured_place("R", "three", ""),
        "<transition id=\"t\"/><transition id=\"u\"/>".into(),
        coloured_arc("P", "t", &variable("z")),
        coloured_arc("t", "Q", &variable("z")),
        coloured_arc("R", "u", &variable("x")),
    ]));
    assert_eq!(place_names(&net), ["P_b_3", "Q_b_3"]);
    assert_eq!(transition_names(&net), ["t_b_3"]);
    assert!(net.names.places["R"].is_empty() && net.names.transitions["u"].is_empty());
}

/// Places with their first tokens.
type Tokens = &'static [(&'static str, i64)];

#[test]
fn terms_mean_what_they_say() {
    let pair = |x: &str, n: &str| term("tuple", &[x, n]);
    let cases: [(&str, String, Tokens); 11] = [
        ("three", all("three"), &[("P_a", 1), ("P_b", 1), ("P_c", 1)]),
        (
            "three",
            term("subtract", &[&times(2, &all("three")), &constant("tb")]),
            &[("P_a", 2), ("P_b", 1), ("P_c", 2)],
        ),
        ("three", term("predecessor", &[&constant("ta")]), &[("P_c", 1)]),
        ("three", term("add", &[&constant("ta"), &times(3, &constant("ta"))]), &[("P_a", 4)]),
        ("pair", pair(&all("three"), &number(2)), &[("P_a_2", 1), ("P_b_2", 1), ("P_c_2", 1)]),
        (
            "pair",
            pair(&constant("tc"), &term("add", &[&number(1), &times(2, &number(4))])),
            &[("P_c_1", 1), ("P_c_4", 2)],
        ),
        ("dot", times(7, "<dotconstant/>"), &[("P", 7)]),
        // An element of a partition: all that belongs to it, or itself where the partition is the sort.
        ("number", times(2, &constant("low")), &[("P_1", 2), ("P_2", 2)]),
        ("number", term("add", &[&constant("high"), &number(1)]), &[("P_1", 1), ("P_3", 1), ("P_4", 1)]),
        ("pair", pair(&constant("ta"), &constant("high")), &[("P_a_3", 1), ("P_a_4", 1)]),
        ("half", constant("high"), &[("P_high", 1)]),
    ];
    for (sort, marking, expected) in cases {
        let net = accepted(&coloured(&[coloured_place("P", sort, &marking)]));
        let found = Net::of(&net.system).unwrap();
        let found: Vec<(&str, i64)> =
            found.places.iter().map(|place| (place.name.as_str(), place.initial as i64)).collect();
        assert_eq!(found, expected, "{marking}");
    }
}

#[test]
fn an_element_of_a_partition_on_an_arc_is_all_that_belongs_to_it() {
    let net = accepted(&coloured(&[
        coloured_place("P", "number", &all("number")),
        coloured_place("Q", "number", ""),
        "<transition id=\"t\"/>".into(),
        coloured_arc("P", "t", &constant("low")),
        coloured_arc("t", "Q", &constant("high")),
    ]));
    let found = Net::of(&net.system).unwrap();
    assert_eq!(place_names(&net), ["P_1", "P_2", "P_3", "P_4", "Q_3", "Q_4"]);
    assert_eq!(found.transitions[0].takes, [(0, 1), (1, 1)]);
    assert_eq!(found.transitions[0].adds, [(4, 1), (5, 1)]);
}

#[test]
fn sorts_may_be_declared_after_their_use() {
    let text = coloured(&[coloured_place("P", "halves", &term("tuple", &[&constant("ta"), &constant("low")]))]);
    let product = "<namedsort id=\"halves\" name=\"halves\"><productsort><usersort declaration=\"three\"/>\
        <usersort declaration=\"half\"/></productsort></namedsort>\
        <variabledecl id=\"h\" name=\"h\"><usersort declaration=\"half\"/></variabledecl>";
    let net = accepted(&text.replacen("<declarations>", &format!("<declarations>{product}"), 1));
    assert_eq!(place_names(&net), ["P_a_low"]);
}

#[test]
fn conditions_drop_bindings() {
    let (x, y, n) = (variable("x"), variable("y"), variable("n"));
    let half =
        |of: &str| format!("<partitionelementof refpartition=\"half\"><subterm>{of}</subterm></partitionelementof>");
    let cases: [(String, usize); 12] = [
        (term("equality", &[&x, &y]), 12),
        (term("inequality", &[&x, &y]), 24),
        (term("equality", &[&term("successor", &[&x]), &y]), 12),
        (term("lessthan", &[&n, &number(3)]), 18),
        (term("lessthanorequal", &[&n, &number(3)]), 27),
        (term("greaterthan", &[&n, &number(3)]), 9),
        (term("greaterthanorequal", &[&n, &number(3)]), 18),
        (term("not", &[&term("and", &[&term("equality", &[&x, &y]), &term("equality", &[&n, &number(1)])])]), 33),
        (term("or", &[&term("equality", &[&x, &constant("ta")]), &term("equality", &[&y, &constant("ta")])]), 20),
        (term("imply", &[&term("equality", &[&x, &y]), &term("equality", &[&n, &number(1)])]), 27),
        (term("equality", &[&half(&n), &constant("high")]), 18),
        ("<booleanconstant value=\"false\"/>".into(), 0),
    ];
    for (condition, expected) in cases {
        let net = accepted(&coloured(&[
            coloured_place("P", "three", &all("three")),
            coloured_place("Q", "three", ""),
            coloured_place("N", "number", ""),
            guarded("t", &condition),
            coloured_arc("P", "t", &x),
            coloured_arc("t", "Q", &y),
            coloured_arc("t", "N", &n),
        ]));
        assert_eq!(net.names.transitions["t"].len(), expected, "{condition}");
    }
}

#[test]
fn arcs_that_take_all_or_all_but_one_wait_for_all_of_them() {
    let others = term("subtract", &[&all("three"), &variable("x")]);
    let net = accepted(&coloured(&[
        coloured_place("P", "three", &all("three")),
        coloured_place("Q", "three", ""),
        coloured_place("D", "dot", ""),
        "<transition id=\"t\"/><transition id=\"u\"/>".into(),
        coloured_arc("P", "t", &others),
        coloured_arc("t", "Q", &variable("x")),
        coloured_arc("Q", "u", &all("three")),
        "<arc id=\"d\" source=\"u\" target=\"D\"/>".into(),
    ]));
    assert_eq!(transition_names(&net), ["t_a", "t_b", "t_c", "u"]);
    let found = Net::of(&net.system).unwrap();
    assert_eq!(found.transitions[1].takes, [(0, 1), (2, 1)]);
    assert_eq!(found.transitions[3].takes.len(), 3);
    assert_eq!(states(&net), 4);
}

#[test]
fn names_of_colours_are_never_the_same() {
    let net = accepted(&coloured(&[
        coloured_place("P_a", "dot", "<dotconstant/>"),
        coloured_place("P", "three", &constant("ta")),
    ]));
    assert_eq!(place_names(&net), ["P_a", "P_a'"]);
}

#[test]
fn faults_of_colours_are_told() {
    let place = coloured_place("P", "three", "");
    let with = |marking: &str| coloured(&[coloured_place("P", "three", marking)]);
    let taking = |inscription: &str| {
        coloured(&[place.clone(), "<transition id=\"t\"/>".into(), coloured_arc("t", "P", inscription)])
    };
    let cases = [
        (with(&number(1)), "expected a term of the sort `three`, found `number`"),
        (with(&variable("x")), "a variable in an initial marking"),
        (with(&constant("td")), "there is no constant `td`"),
        (with("<list/>"), "`<list>` is not supported here"),
        (with(&term("subtract", &[&constant("ta"), &constant("tb")])), "more is subtracted than is there"),
        (taking(&variable("w")), "there is no variable `w`"),
        (
            taking(&term("tuple", &[&variable("x"), &variable("n")])),
            "expected a term of the sort `three`, found `pair`",
        ),
        (taking(&term("subtract", &[&variable("x"), &variable("y")])), "more is subtracted than is there"),
        (coloured(&[coloured_place("P", "four", "")]), "there is no sort `four`"),
        (coloured(&["<place id=\"P\"/>".into()]), "the place `P` has no `<type>`"),
        (
            coloured(&[place.clone(), "<transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"P\"/>".into()]),
            "an arc without inscription at `P`",
        ),
        (coloured(&[guarded("t", &term("lessthan", &[&variable("z"), &variable("z")]))]), "tuples have no order"),
        (
            coloured(&[guarded("t", &term("equality", &[&variable("x"), &variable("n")]))]),
            "expected a term of the sort `three`, found `number`",
        ),
        (coloured(&[guarded("t", &term("unknown", &[]))]), "`<unknown>` is not supported in a condition"),
        (
            coloured(&[coloured_place("N", "number", &term("successor", &[&number(1)]))]),
            "`<successor>` of a value of a sort that is not cyclic",
        ),
        (with("<hlinitialMarking/>"), "`<hlinitialMarking>` is not supported here"),
        (
            coloured(&["<place id=\"P\"><type><text>three</text></type></place>".into()]),
            "`<type>` has no `<structure>`",
        ),
    ];
    for (text, expected) in cases {
        let found = errors(&text);
        assert!(found.len() == 1 && found[0].contains(expected), "expected {expected}, found {found:#?}");
    }
}

#[test]
fn a_net_that_is_too_large_without_colours_is_refused() {
    let sort = "<declaration><structure><declarations><namedsort id=\"big\" name=\"big\"><productsort>\
        <finiteintrange start=\"0\" end=\"99999\"/><finiteintrange start=\"0\" end=\"99999\"/></productsort>\
        </namedsort>\
        <variabledecl id=\"x\" name=\"x\"><usersort declaration=\"big\"/></variabledecl>\
        </declarations></structure></declaration>";
    let marked = coloured_place("P", "big", &all("big"));
    let made =
        [coloured_place("P", "big", ""), "<transition id=\"t\"/>".into(), coloured_arc("t", "P", &variable("x"))];
    for body in [marked, made.concat()] {
        let found = errors(&file("symmetricnet", &format!("{sort}<page id=\"g\">{body}</page>")));
        assert!(found[0].contains("too large") || found[0].contains("colours at once"), "{found:?}");
    }
}

/// What lasts asks its budget: reading, unfolding, and writing out formulas.
#[test]
fn reading_ends_when_its_budget_is_exhausted() {
    use ample_budget::{Budget, Cancellation, Interrupted};
    let sort = "<declaration><structure><declarations><namedsort id=\"big\" name=\"big\"><productsort>\
        <finiteintrange start=\"0\" end=\"999\"/><finiteintrange start=\"0\" end=\"999\"/></productsort>\
        </namedsort>\
        <variabledecl id=\"x\" name=\"x\"><usersort declaration=\"big\"/></variabledecl>\
        </declarations></structure></declaration>";
    let body =
        [coloured_place("P", "big", ""), "<transition id=\"t\"/>".into(), coloured_arc("t", "P", &variable("x"))];
    let large = file("symmetricnet", &format!("{sort}<page id=\"g\">{}</page>", body.concat()));
    let begun = std::time::Instant::now();
    let budget = Budget::unlimited().with_time(std::time::Duration::from_millis(50));
    let ended = pnml::read_within("n.pnml", &large, &budget).expect_err("there is no time for that");
    assert_eq!(ended.interrupted, Some(Interrupted::Deadline));
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());

    let places: String = (0..5000).map(|number| place(&format!("p{number}"), 1)).collect();
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let over = Budget::unlimited().with_cancellation(&cancellation);
    let ended = pnml::read_within("n.pnml", &plain(&places), &over).expect_err("it was cancelled");
    assert_eq!(ended.interrupted, Some(Interrupted::Cancelled));

    let net = moving();
    let formula = "<property><id>f</id><formula><exists-path><finally><is-fireable><transition>go</transition>\
        </is-fireable></finally></exists-path></formula></property>";
    let text = format!("<property-set>{}</property-set>", formula.repeat(2000));
    let ended = pnml::formulas_within(&net.system, &net.names, "f.xml", &text, &over).expect_err("it was cancelled");
    assert_eq!(ended.interrupted, Some(Interrupted::Cancelled));
    let read = pnml::formulas_within(&net.system, &net.names, "f.xml", &text, &Budget::unlimited()).unwrap();
    assert_eq!((read.properties.len(), read.refused.len()), (2000, 0));
}

/// The size of formulas is limited one by one, and what they share counts once.
#[test]
fn a_formula_that_is_too_large_spoils_no_other() {
    let mut net = accepted(&plain(&format!("{}{}", place("p", 1), place("q", 1))));
    // As if it had nine million colours.
    let colours = vec![ample_model::VariableId(1); 9_000_000];
    net.names.places.insert("q".into(), colours);
    let bound = |ids: &[&str]| {
        let ids: String = ids.iter().map(|id| format!("<place>{id}</place>")).collect();
        format!("<place-bound>{ids}</place-bound>")
    };
    let property =
        |id: &str, ids: &[&str]| format!("<property><id>{id}</id><formula>{}</formula></property>", bound(ids));
    let text = [property("small", &["p"]), property("large", &["p", "q"]), property("other", &["p"])].concat();
    let text = format!("<property-set>{text}</property-set>");
    let budget = ample_budget::Budget::unlimited();
    let read = pnml::formulas_within(&net.system, &net.names, "f.xml", &text, &budget).unwrap();
    let names: Vec<&str> = read.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["small", "other"]);
    assert_eq!(read.refused[0].name, "large");
    assert!(read.refused[0].why.contains("too large"), "{:?}", read.refused);
    assert!(pnml::formulas(&net.system, &net.names, "f.xml", &text).is_err());
}

// Formulas.

/// A coloured net: `go` moves one of the three tokens of `P` to `Q`, `never` does nothing ever.
fn moving() -> Unfolded {
    accepted(&coloured(&[
        coloured_place("P", "three", &all("three")),
        coloured_place("Q", "three", ""),
        "<transition id=\"go\"/>".into(),
        guarded("never", "<booleanconstant value=\"false\"/>"),
        coloured_arc("P", "go", &variable("x")),
        coloured_arc("go", "Q", &variable("x")),
    ]))
}

fn properties(formulas: &[&str]) -> Result<Vec<ample_model::Property>, String> {
    let net = moving();
    let list = formulas.iter().enumerate();
    let list: String = list
        .map(|(number, formula)| {
            format!(
                "<property><id>f-{number}</id><description>d</description><formula>{formula}</formula></property>\n"
            )
        })
        .collect();
    let text = format!("<?xml version=\"1.0\"?>\n<property-set xmlns=\"http://mcc.lip6.fr/\">\n{list}</property-set>");
    pnml::formulas(&net.system, &net.names, "f.xml", &text).map_err(|rejected| shown(&rejected.diagnostics[0], &text))
}

/// `tokens-count` of a place at most a number.
fn at_most(place: &str, number: i64) -> String {
    format!(
        "<integer-le><tokens-count><place>{place}</place></tokens-count>\
         <integer-constant>{number}</integer-constant></integer-le>"
    )
}

const FIREABLE: &str = "<is-fireable><transition>go</transition><transition>never</transition></is-fireable>";

#[test]
fn formulas_are_read_and_written() {
    let p = at_most("P", 1);
    let until = format!("<until><before>{p}</before><reach>{FIREABLE}</reach></until>");
    for (formula, id, text) in [
        (format!("<exists-path><finally>{p}</finally></exists-path>"), "ctl:f-0", "EF P <= 1"),
        (format!("<all-paths><globally><negation>{p}</negation></globally></all-paths>"), "ctl:f-0", "AG !P <= 1"),
        (format!("<exists-path>{until}</exists-path>"), "ctl:f-0", "E (P <= 1 U fireable(go, never))"),
        (
            format!(
                "<all-paths><globally><finally><conjunction>{p}{FIREABLE}</conjunction></finally></globally>\
                 </all-paths>"
            ),
            "ltl:f-0",
            "AG F (P <= 1 & fireable(go, never))",
        ),
        (format!("<all-paths><next>{until}</next></all-paths>"), "ltl:f-0", "AX (P <= 1 U fireable(go, never))"),
        ("<place-bound><place>P</place><place>Q</place></place-bound>".into(), "bound:f-0", "P + Q"),
        ("<exists-path><finally><deadlock/></finally></exists-path>".into(), "ctl:f-0", "EF deadlock"),
        (
            "<all-paths><globally><integer-lt><integer-sum>\
             <integer-constant>1</integer-constant><tokens-count><place>Q</place>\
             </tokens-count></integer-sum><integer-difference><integer-constant>9</integer-constant><integer-constant>2\
             </integer-constant></integer-difference></integer-lt></globally></all-paths>"
                .into(),
            "ctl:f-0",
            "AG 1 + Q < 9 - (2)",
        ),
    ] {
        let found = properties(&[&formula]).unwrap();
        assert_eq!((found[0].id().as_str(), found[0].text.as_str()), (id, text));
        assert_eq!(found[0].name, "f-0");
    }
}

#[test]
fn the_logic_of_a_formula_that_is_in_both_is_that_of_the_others() {
    let next = format!("<all-paths><next>{FIREABLE}</next></all-paths>");
    let linear = format!("<all-paths><finally><globally>{FIREABLE}</globally></finally></all-paths>");
    let branching = format!("<exists-path><finally>{FIREABLE}</finally></exists-path>");
    let logic = |formulas: &[&str]| matches!(properties(formulas).unwrap()[0].question, Question::Ltl(_));
    assert!(!logic(&[&next]));
    assert!(logic(&[&next, &linear]));
    assert!(!logic(&[&next, &branching]));
}

#[test]
fn faults_in_formulas_are_told() {
    let p = at_most("P", 1);
    for (formula, expected) in [
        (at_most("p", 1), "there is no place `p` in the net (did you mean `P`?)"),
        ("<is-fireable><transition>stay</transition></is-fireable>".into(), "there is no transition `stay` in the net"),
        ("<is-fireable/>".into(), "`<is-fireable>` names no transition"),
        ("<is-fireable><place>P</place></is-fireable>".into(), "expected `<transition>`, found `<place>`"),
        ("<wonder/>".into(), "`<wonder>` is not known in formulas"),
        (format!("<negation>{p}{p}</negation>"), "`<negation>` must have one operand"),
        (
            format!("<exists-path><globally><finally>{p}</finally></globally></exists-path>"),
            "the formula `f-0` is neither one of LTL nor one of CTL",
        ),
        (format!("<until>{p}</until>"), "`<until>` must have `<before>` and `<reach>`"),
        ("<conjunction/>".into(), "`<conjunction>` of nothing"),
        ("".into(), "the `<formula>` of `f-0` must be one formula"),
        (at_most("P</place><place>P", 1), "the place `P` is named twice in one sum"),
        (p.replace(">1<", ">one<"), "`one` is not a number, or too large"),
    ] {
        let found = properties(&[&formula]).expect_err(&formula);
        assert!(found.starts_with("3:") && found.contains(expected), "expected {expected}, found {found}");
    }
    let net = moving();
    for text in ["", "<pnml/>", "<property-set>", "<property-set><property/></property-set>"] {
        assert!(pnml::formulas(&net.system, &net.names, "f.xml", text).is_err(), "{text}");
    }
}

#[test]
fn typed_formulas_speak_of_places_and_transitions() {
    let net = moving();
    let (system, names) = (&net.system, &net.names);
    for text in [
        "P <= 3",
        "P + Q = 3 && !deadlock",
        "(P + 2 * Q) >= 1 || (P) < 2",
        "P",
        "!(P & Q)",
        "fireable(go)",
        "\"P\" - Q != -1",
        "3 > P -> true",
    ] {
        assert!(pnml::expression(system, names, text).is_ok(), "{text}: {:?}", pnml::expression(system, names, text));
    }
    for text in ["G F fireable(go, never)", "[] (P -> <> Q > 2)", "P U Q", "GF Q", "X X P >= 1"] {
        assert!(pnml::ltl(system, names, text).is_ok(), "{text}: {:?}", pnml::ltl(system, names, text));
    }
    for text in ["AG EF fireable(go)", "A [P U Q = 3]", "E (P U Q = 3)", "EX P = 2 & AF deadlock"] {
        assert!(pnml::ctl(system, names, text).is_ok(), "{text}: {:?}", pnml::ctl(system, names, text));
    }
    for (text, expected) in [
        ("S <= 3", "there is no place `S` in the net"),
        ("go", "`go` is a transition"),
        ("G P", "a condition has no operators about runs"),
        ("P <=", "a comparison has a number on its right side, too"),
        ("P * Q < 2", "tokens can be multiplied by numbers only"),
        ("fireable(stay)", "there is no transition `stay` in the net"),
        ("fireable(go", "expected `,` or `)` after the name of a transition"),
        ("\"P <= 3", "this quotation mark has no partner"),
        ("99999999999999999999 < P", "`99999999999999999999` is not a number, or too large"),
        ("2", "expected an atom"),
        ("", "expected an atom"),
    ] {
        let rejected = pnml::expression(system, names, text).expect_err(text);
        assert!(rejected.diagnostics[0].message.contains(expected), "{text}: {:?}", rejected.diagnostics);
    }
    assert!(pnml::ltl(system, names, "AG P").is_err() && pnml::ctl(system, names, "G P").is_err());
}

#[test]
fn nodes_that_are_called_like_operators_are_those_nodes() {
    let names = ["A", "Goal", "a", "Fa", "X", "U", "AG", "true", "deadlock", "7", "true_"];
    let mut body = names.map(|name| place(name, 1)).concat();
    body.push_str(&["<transition id=\"E\"/>", "<transition id=\"Xa\"/>"].concat());
    body.push_str(&[arc("A", "E", 1), arc("E", "Goal", 1)].concat());
    let net = accepted(&plain(&body));
    let read = |logic: &str, text: &str| match logic {
        "ctl" => pnml::ctl(&net.system, &net.names, text),
        "ltl" => pnml::ltl(&net.system, &net.names, text),
        _ => pnml::expression(&net.system, &net.names, text).map(Temporal::state),
    };
    // Each text, and the same with quotation marks; nothing if it is refused, with a message that shows them.
    for (logic, text, quoted) in [
        ("ctl", "EF Goal", "EF \"Goal\""),
        ("ctl", "AG A = 1", "AG \"A\" = 1"),
        ("ctl", "AG (A + Goal = 1)", "AG (\"A\" + \"Goal\" = 1)"),
        ("ctl", "AG (AG -> A (A U AG))", "AG (\"AG\" -> A (\"A\" U \"AG\"))"),
        ("ctl", "A [ U U Fa ]", "A [ \"U\" U \"Fa\" ]"),
        ("ltl", "F Fa > 0", "F \"Fa\" > 0"),
        ("ltl", "GFa", ""),
        ("ltl", "Xa", ""),
        ("ltl", "G X", "G \"X\""),
        ("ltl", "X X", "X \"X\""),
        ("ltl", "X Goal", "X \"Goal\""),
        ("ltl", "X U a", "\"X\" U a"),
        ("ltl", "X - 1 <= a", ""),
        ("ltl", "U + X = 1 U true_", "\"U\" + \"X\" = 1 U \"true_\""),
        ("ltl", "G true", ""),
        ("ltl", "G deadlock", ""),
        ("state", "deadlock() -> Fa", "deadlock() -> \"Fa\""),
        ("state", "a <= 7", ""),
        ("state", "a <= 07", "\"a\" <= 07"),
        ("state", "a <= 2", "\"a\" <= 2"),
        ("state", "Fa + U < 2 && AG", "\"Fa\" + \"U\" < 2 && \"AG\""),
    ] {
        match (read(logic, text), quoted) {
            (Ok(formula), quoted) if !quoted.is_empty() => {
                assert_eq!(formula, read(logic, quoted).unwrap(), "{text}");
            }
            (Err(rejected), "") => {
                let Diagnostic { message, help, .. } = &rejected.diagnostics[0];
                let shown = format!("{message} {}", help.as_deref().unwrap_or(""));
                assert!(shown.contains("\"") || shown.contains("fireable(Xa)"), "{text}: {shown}");
            }
            (read, _) => panic!("{text}: {read:?}"),
        }
    }
}

#[test]
fn what_is_written_can_be_typed_again() {
    let until = format!("<until><before>{}</before><reach>{FIREABLE}</reach></until>", at_most("P", 1));
    let formulas = [
        format!("<exists-path>{until}</exists-path>"),
        format!(
            "<all-paths><globally><implication>{}<negation>{FIREABLE}</negation></implication></globally></all-paths>",
            at_most("Q", 2)
        ),
        format!(
            "<negation><exists-path><next><disjunction>{FIREABLE}{}</disjunction></next></exists-path></negation>",
            at_most("Q", 0)
        ),
    ];
    let net = moving();
    for formula in formulas {
        let stated = properties(&[&formula]).unwrap().remove(0);
        let typed =
            pnml::ctl(&net.system, &net.names, &stated.text).unwrap_or_else(|error| panic!("{}: {error}", stated.text));
        assert_eq!(stated.question, Question::Ctl(typed), "{}", stated.text);
    }
}

#[test]
fn examinations_are_questions_about_the_nodes_of_the_file() {
    let net = moving();
    for examination in Examination::ALL {
        let property = examination.property(&net.system, &net.names).unwrap();
        assert_eq!(property.name, examination.name());
    }
}
