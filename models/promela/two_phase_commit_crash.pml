/*
  Two-phase commit with a coordinator that may crash: the blocking problem.

  Sources: J. Gray, "Notes on data base operating systems", 1978; D. Skeen,
  "Nonblocking commit protocols", SIGMOD 1981.

  As two_phase_commit.pml, but the coordinator may stop at any moment and never
  come back (the escape clause after `unless` may be taken before every one of
  its steps).  A participant that waits for the coordinator to ask for its vote
  notices the crash, and aborts.  One that has voted yes cannot do so: the
  others may have committed, and it does not know.  It must wait for ever.

  Checked:
  - the assertions: agreement.  They hold; a crash never leads to a wrong
    decision;
  - absence of deadlock: violated.  After a crash the participants that have
    voted yes are stuck.  This is not an error of the model: Skeen shows that
    two phases cannot avoid it, and adds a third;
  - `agreement`: the same as the assertion, as a formula.

  expect deadlock: violated
  expect assertions: holds
  expect states: 97451
  expect ltl agreement: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  3

mtype = { prepare, yes, no, commit, abort };

chan to_participant[N] = [2] of { mtype };
chan to_coordinator    = [N] of { mtype };

byte committed, aborted;
bool crashed;

active proctype coordinator()
{
	byte i, votes;
	mtype v, outcome = commit;

	{
		for (i : 0 .. N - 1) {
			to_participant[i] ! prepare
		};
		do
		:: votes < N ->
		   to_coordinator ? v;
		   votes++;
		   if
		   :: v == no -> outcome = abort; break
		   :: else
		   fi
		:: votes == N -> break
		od;
		for (i : 0 .. N - 1) {
			to_participant[i] ! outcome
		}
	} unless {
		crashed -> skip
	}
}

/* the accident may happen at any time, or never */
active proctype fate()
{
	if
	:: crashed = true
	:: skip
	fi
}

active [N] proctype participant()
{
	mtype m;
	byte me = _pid - 2;     /* coordinator and fate are 0 and 1 */

	if
	:: to_participant[me] ? prepare
	:: crashed && empty(to_participant[me]) ->
	   aborted++;
	   goto done
	fi;
	if
	:: true ->
	   aborted++;
	   to_coordinator ! no;
	   goto done
	:: true ->
	   to_coordinator ! yes
	fi;

	to_participant[me] ? m;         /* here one waits in vain */
	if
	:: m == commit -> committed++; assert(aborted == 0)
	:: m == abort  -> aborted++;   assert(committed == 0)
	fi;
done:
	skip
}

ltl agreement { [] !(committed > 0 && aborted > 0) }
