/*
  Dijkstra's self-stabilizing token ring with K states.

  Source: E. W. Dijkstra, "Self-stabilizing systems in spite of distributed
  control", Communications of the ACM 17(11), 1974.

  N machines stand in a ring, each with a number below K.  Machine 0 has the
  privilege (the token) if its number equals that of its left neighbour, any
  other machine if it differs.  A privileged machine may move: machine 0 adds
  one, the others copy their neighbour.  In a legitimate state exactly one
  machine is privileged, and the privilege goes round.  The point is that the
  system reaches such a state from wherever it starts, without any machine
  knowing that something is wrong.

  `init` chooses the initial numbers arbitrarily, so that the checker starts
  from every state at once.

  Checked:
  - the assertion: there is always at least one privilege; hence no deadlock;
  - `stabilizes`: in the end there is exactly one privilege, and it stays so;
  - `closed`: once there is exactly one, there is exactly one for ever;
  - `circulates`: machine 2 becomes privileged again and again.
  All hold without fairness, for K >= N: only privileged machines can move, and
  each move makes some progress.

  expect deadlock: holds
  expect assertions: holds
  expect states: 257
  expect ltl stabilizes: holds
  expect ltl closed: holds
  expect ltl circulates: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  4
#define K  4

byte x[N];
bool started;

#define priv0  (x[0] == x[N - 1])
#define priv1  (x[1] != x[0])
#define priv2  (x[2] != x[1])
#define priv3  (x[3] != x[2])

#define privileges  (priv0 + priv1 + priv2 + priv3)

proctype first_machine()
{
	do
	:: d_step { x[0] == x[N - 1] -> x[0] = (x[0] + 1) % K; assert(privileges >= 1) }
	od
}

proctype machine(byte i)
{
	do
	:: d_step { x[i] != x[i - 1] -> x[i] = x[i - 1]; assert(privileges >= 1) }
	od
}

init {
	byte i, v;

	atomic {
		for (i : 0 .. N - 1) {
			select (v : 0 .. K - 1);
			x[i] = v
		};
		run first_machine();
		for (i : 1 .. N - 1) {
			run machine(i)
		};
		v = 0;
		started = true
	}
}

ltl stabilizes { <> [] (privileges == 1) }
ltl closed     { [] (started && privileges == 1 -> [] (privileges == 1)) }
ltl circulates { [] <> priv2 }
