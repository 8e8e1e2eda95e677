/*
  Peterson's mutual exclusion algorithm for two processes.

  Source: G. L. Peterson, "Myths about the mutual exclusion problem",
  Information Processing Letters 12(3), 1981.

  Each process raises its flag, politely gives the turn to the other one, and
  waits until either the other is not interested or the turn has come back.
  Every read and every write of a shared variable is a separate step, except
  for the wait condition, which reads two variables at once (splitting that
  test in two would be correct as well).

  Checked:
  - the assertion, and the formula `mutex`: never two in the critical section;
  - `admitted`: once its flag is up, process 0 does get in.  This needs no
    fairness at all: with flag[0] up, process 1 can go round at most once
    before it sets turn to 0 and blocks, so that process 0 has to move;
  - `served`: a process that is about to raise its flag gets in.  Without
    fairness this fails, since the other process may run alone for ever; if
    every process that is continuously able to move does move, it holds.

  expect deadlock: holds
  expect assertions: holds
  expect states: 58
  expect ltl mutex: holds
  expect ltl admitted: holds
  expect ltl served: violated
  expect ltl served (weak fairness): holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

bool flag[2];       /* flag[i]: process i wants to enter                */
byte turn;          /* who goes first if both want to                   */
byte in_critical;   /* ghost variable: how many are inside              */

#define me     _pid
#define other  (1 - _pid)

active [2] proctype process()
{
	do
	:: true;                                  /* non-critical section */
want:	   flag[me] = true;
asked:	   turn = other;
	   (!flag[other] || turn == me);          /* blocks until it is true */
	   in_critical++;
critical:  assert(in_critical == 1);
	   in_critical--;
	   flag[me] = false
	od
}

ltl mutex    { [] !(process[0]@critical && process[1]@critical) }
ltl admitted { [] (process[0]@asked -> <> process[0]@critical) }
ltl served   { [] (process[0]@want -> <> process[0]@critical) }
