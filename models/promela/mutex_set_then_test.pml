/*
  Another broken lock: set your own flag, then wait for the other's.

  Another classical failed attempt at mutual exclusion (see E. W. Dijkstra,
  "Cooperating sequential processes", EWD 123, 1965).  Peterson's algorithm is
  this one with the variable `turn` added.

  Checked:
  - the assertion and `mutex`: two processes are never inside together.  They
    hold: whoever looks second sees the first one's flag;
  - absence of deadlock.  Violated: if both raise their flags before either
    looks, each waits for the other for ever.

  Compare mutex_test_then_set.pml, which never blocks but lets two in.

  expect deadlock: violated
  expect assertions: holds
  expect states: 33
  expect ltl mutex: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

bool flag[2];
byte inside;        /* ghost */

active [2] proctype process()
{
	do
	:: skip;                        /* non-critical section */
	   flag[_pid] = true;
	   !flag[1 - _pid];
	   inside++;
	   assert(inside == 1);
	   inside--;
	   flag[_pid] = false
	od
}

ltl mutex { [] (inside < 2) }
