/*
  Dekker's algorithm: the first correct solution of the mutual exclusion
  problem for two processes that communicate through shared variables only.

  Source: attributed to Th. J. Dekker in E. W. Dijkstra, "Cooperating
  sequential processes", EWD 123, 1965.

  Both processes raise a flag.  On a conflict the one whose turn it is not
  takes its flag down again and waits for the turn; the other insists.

  Checked:
  - the assertion and `mutex`: never two in the critical section;
  - `served`: process 1, for which it is not the turn at first, will enter when
    it has raised its flag.  Unlike Peterson's algorithm this one waits actively
    (the inner loop spins), so that an unfair scheduler can let one process spin
    for ever; weak fairness excludes that run;
  - `alternates`: the two processes take turns.  This is false, as it should
    be: a process may enter many times while the other one is not interested.

  expect deadlock: holds
  expect assertions: holds
  expect states: 205
  expect ltl mutex: holds
  expect ltl served: violated
  expect ltl served (weak fairness): holds
  expect ltl alternates: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

bool flag[2];
byte turn = 0;
bool wants[2];      /* ghost: i has asked and has not been let in yet */
bool inside[2];     /* ghost: i is in the critical section             */

proctype process(byte me)
{
	byte other = 1 - me;

	do
	:: true ->
	   /* non-critical section */
	   atomic { flag[me] = true; wants[me] = true };
	   do
	   :: flag[other] ->
	      if
	      :: turn == me -> skip               /* insist              */
	      :: else ->                          /* give way            */
	         flag[me] = false;
	         (turn == me);
	         flag[me] = true
	      fi
	   :: else -> break
	   od;

	   atomic { inside[me] = true; wants[me] = false };
	   assert(!inside[other]);
	   inside[me] = false;

	   turn = other;
	   flag[me] = false
	od
}

init {
	atomic {
		run process(0);
		run process(1)
	}
}

ltl mutex      { [] !(inside[0] && inside[1]) }
ltl served     { [] (wants[1] -> <> inside[1]) }
ltl alternates { [] (inside[0] -> (inside[0] U (!inside[0] U inside[1]))) }
