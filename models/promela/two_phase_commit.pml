/*
  Two-phase commit: a coordinator and three participants, no crashes.

  Sources: J. Gray, "Notes on data base operating systems", 1978; B. Lampson
  and H. Sturgis, "Crash recovery in a distributed data storage system", 1976.

  Phase one: the coordinator asks every participant to vote.  A participant
  that votes no aborts at once, on its own; one that votes yes has promised to
  do whatever is decided.  Phase two: the coordinator commits if all votes are
  yes, aborts otherwise (or when it loses patience), and tells everybody.

  Checked:
  - the assertions: nobody commits unless all voted yes, and no two
    participants decide differently;
  - absence of deadlock: all processes terminate;
  - `decides`: every participant decides in the end.  two_phase_commit_crash.pml
    shows that this rests on the coordinator staying alive;
  - `always_commits`: violated; somebody may vote no.

  expect deadlock: holds
  expect assertions: holds
  expect states: 32708
  expect ltl decides: holds
  expect ltl always_commits: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  3

mtype = { prepare, yes, no, commit, abort, undecided };

chan to_participant[N] = [2] of { mtype };
chan to_coordinator    = [N] of { mtype };

mtype decision[N] = undecided;          /* of each participant     */
byte committed, aborted;                /* how many of each        */
byte votes_yes;                         /* ghost                   */

proctype participant(byte me)
{
	mtype m;

	to_participant[me] ? prepare;
	if
	:: true ->                                      /* vote no      */
	   atomic { decision[me] = abort; aborted++ };
	   to_coordinator ! no
	:: true ->                                      /* vote yes     */
	   atomic { to_coordinator ! yes; votes_yes++ }
	fi;

	to_participant[me] ? m;                         /* the decision */
	atomic {
		if
		:: m == commit ->
		   assert(votes_yes == N && aborted == 0);
		   decision[me] = commit;
		   committed++
		:: m == abort && decision[me] == undecided ->
		   assert(committed == 0);
		   decision[me] = abort;
		   aborted++
		:: else                                 /* had voted no */
		fi
	}
}

active proctype coordinator()
{
	byte i, votes;
	mtype v, outcome = commit;

	atomic {
		for (i : 0 .. N - 1) {
			run participant(i)
		}
	};

	/* phase one */
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
	:: votes < N -> outcome = abort; break          /* timeout      */
	:: votes == N -> break
	od;

	/* phase two */
	for (i : 0 .. N - 1) {
		to_participant[i] ! outcome
	}
}

ltl decides        { <> (committed + aborted == N) }
ltl always_commits { <> (committed == N) }
