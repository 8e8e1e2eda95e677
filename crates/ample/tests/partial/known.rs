//! Models that were answered wrongly once, or that are near to such.

/// The name and the text of each.
pub const MODELS: [(&str, &str); 20] = [
    (
        "a subscript that nobody reads is an id, and out of range unless an older process has ended",
        "
byte c;
byte a[3];
proctype P() { a[_pid] = 1; c++; if :: c == 3 -> assert(false) :: else fi }
init { run P(); run P(); run P() }
",
    ),
    (
        "two timeouts at once: each may end the wait of the other",
        "
active [2] proctype P() { timeout }
",
    ),
    (
        "one receive that returns takes from two senders",
        "
chan r = [0] of { byte };
byte x;
active proctype P() { byte l; do :: r?l :: x == 1 -> assert(l == 2); break od }
active proctype Q() { r!1; x = 1 }
active proctype R() { r!2 }
",
    ),
    (
        "an atomic sequence receives twice, if there are two messages",
        "
chan q = [2] of { byte };
byte x, y, go;
active proctype P() { q!5; go = 1; atomic { q?x; if :: q?y -> assert(false) :: else fi } }
active proctype Q() { go == 1; q!6 }
",
    ),
    (
        "an atomic sequence sends twice, if there is room for it",
        "
chan q = [2] of { byte };
byte go;
active proctype P() { q!5; go = 1; atomic { q!6; if :: q!7 -> assert(false) :: else fi } }
active proctype Q() { go == 1; q?_; q?_ }
",
    ),
    (
        "an atomic sequence takes all there is",
        "
chan q = [2] of { byte };
byte go, n, x;
active proctype P() { q!5; go = 1; atomic { x = 0; do :: q?_ -> n++ :: else -> break od }; assert(n < 2) }
active proctype Q() { go == 1; q!6 }
",
    ),
    (
        "a d_step takes all there is",
        "
chan q = [2] of { byte };
byte go, n, x;
active proctype P() { q!5; go = 1; d_step { x = 0; do :: q?_ -> n++ :: else -> break od }; assert(n < 2) }
active proctype Q() { go == 1; q!6 }
",
    ),
    (
        "an atomic sequence uses a channel by two names",
        "
chan q = [2] of { byte };
byte go;
active proctype P() { chan w = q; byte x; q!5; go = 1; atomic { w?x; if :: q?x -> assert(false) :: else fi }; w = q }
active proctype Q() { go == 1; q!6 }
",
    ),
    (
        "who takes a message from an atomic sequence goes on with another one",
        "
chan q = [2] of { byte };
chan r = [0] of { byte };
byte x, y, go;
active proctype P() { q!5; go = 1; atomic { q?x; r!1 } }
active proctype R() { atomic { r?_; if :: q?y -> assert(false) :: else fi } }
active proctype Q() { go == 1; q!6 }
",
    ),
    (
        "an atomic sequence sends two messages",
        "
chan q = [2] of { byte };
byte x;
active proctype P() { atomic { q!1; q!2; x = 1 } }
active proctype R() { x = 2 }
active proctype Q() { if :: q??2 -> assert(false) :: true fi }
",
    ),
    (
        "who takes a message from an atomic sequence sends another one",
        "
chan q = [2] of { byte };
chan r = [0] of { byte };
byte x;
active proctype P() { atomic { q!1; r!1 } }
active proctype S() { atomic { r?_; q!2; x = 1 } }
active proctype R() { x = 2 }
active proctype Q() { if :: q??2 -> assert(false) :: true fi }
",
    ),
    (
        "a process that is created asserts, while another one goes round",
        "
proctype C() { assert(false) }
active proctype A() { byte l; do :: l = 1 - l od }
init { run C() }
",
    ),
    (
        "a partner may move only if that is provided",
        "
chan r = [0] of { byte };
bool b;
active proctype P() { r!1; assert(false) }
active proctype Q() provided (b) { r?1 }
active proctype Z() { byte l; l = 1; l = 2; b = 1 }
",
    ),
    (
        "to look at what a rendez-vous channel holds is a fault",
        "
chan r = [0] of { byte };
active proctype P() { byte l; if :: r?<l> :: true fi }
active proctype Q() { byte l; do :: l = 1 - l od }
",
    ),
    (
        "a message for a rendez-vous whose value is a fault",
        "
chan r = [0] of { byte };
byte x = 1;
active proctype P() { if :: r!2/x :: true fi }
active proctype Q() { r?_ }
active proctype R() { x = 0 }
",
    ),
    (
        "a step that stays where it is changes what another one looks at",
        "
byte a[2];
active proctype P() { a[1] = 2 }
active proctype R() { byte l; do :: l = 1 - l :: (a[l] > 0) -> assert(l == 1); break od }
",
    ),
    (
        "a message by a channel that only the state tells, for an atomic sequence that may do without",
        "
chan q = [1] of { byte };
byte x, y;
active proctype P() { chan w = q; w!1; w = q }
active proctype Q() { atomic { x = 0; if :: q?y :: else -> assert(false) fi } }
",
    ),
    (
        "who waits looks at a channel that only the state tells",
        "
chan q = [1] of { byte };
active proctype P() { q!0 }
active proctype Q() { chan w = q; { w = q } unless { len(w) < 1 } }
",
    ),
    (
        "inside of an atomic sequence nothing sleeps",
        "
active proctype Q() { byte m = 1; atomic { skip; if :: skip :: m = 2 fi } }
active [2] proctype R() { skip }
",
    ),
    (
        "two atomic sequences at the ends of their processes",
        "
byte x, y;
active proctype P() { atomic { x = 1; y = 1; goto last }; last: }
active proctype Q() { atomic { x = 2; y = 2; goto last }; last: }
active proctype R() { (x == 2 && y == 2); assert(false) }
",
    ),
];
