/*
  Single-decree Paxos: two proposers, three acceptors.

  Source: L. Lamport, "The part-time parliament", ACM Transactions on Computer
  Systems 16(2), 1998, and "Paxos made simple", 2001.

  Phase one: a proposer asks a majority of the acceptors to promise not to
  accept anything with a lower ballot, and learns what they have accepted so
  far.  Phase two: it asks a majority to accept a value: the one with the
  highest ballot it has learnt of, or its own if there was none.

  A proposer asks the acceptors one after the other.  A request and its answer
  are one step of the model; the acceptor may refuse, and the proposer may leave
  the step out (a lost message, or an acceptor that is down).  A try that fails
  is followed by another with a higher ballot: ballots 1 and 3 belong to the
  first proposer, ballot 2 to the second.  What this simplification leaves out
  are requests that arrive when their proposer has already given them up.

  Checked:
  - the assertion: all values that are ever chosen (accepted by a majority in
    one ballot) are the same.  It holds;
  - absence of deadlock: the proposers terminate;
  - `agrees`: some value is chosen in the end.  Violated: messages may be lost,
    and the two proposers may get in each other's way until they give up.

  expect deadlock: holds
  expect assertions: holds
  expect states: 274253
  expect ltl agrees: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define ACCEPTORS  3
#define MAJORITY   2
#define PROPOSERS  2
#define ROUNDS     2            /* the largest number of tries of a proposer  */
#define BALLOTS    (PROPOSERS * ROUNDS)
#define NOTHING    0

typedef acceptor {
	byte promised;          /* will refuse anything below                 */
	byte ballot;            /* the last ballot in which it has accepted   */
	byte value              /* ... and what                               */
};

acceptor acc[ACCEPTORS];
byte votes[BALLOTS + 1];        /* ghost: how many have accepted in a ballot  */
byte chosen = NOTHING;          /* ghost: the value that a majority accepted  */

proctype proposer(byte me, tries)
{
	byte round;             /* 1 .. tries                                 */
	byte b;                 /* the ballot: proposers use disjoint numbers */
	byte a, answers;
	byte highest, value;    /* the best of what the acceptors have told   */

	do
	:: round < tries ->
	   d_step {
		round++;
		b = (round - 1) * PROPOSERS + me;
		value = me
	   };

	   /* phase one: prepare and promise */
	   do
	   :: a < ACCEPTORS && answers < MAJORITY ->
	      d_step {
		if
		:: acc[a].promised < b ->
		   acc[a].promised = b;
		   answers++;
		   if
		   :: acc[a].ballot > highest ->
		      highest = acc[a].ballot;
		      value = acc[a].value
		   :: else
		   fi
		:: else                                 /* refused */
		fi;
		a++
	      }
	   :: a < ACCEPTORS && answers < MAJORITY -> a++        /* lost */
	   :: else -> break
	   od;
	   if
	   :: answers < MAJORITY -> goto again
	   :: else -> a = 0
	   fi;

	   /* phase two: accept */
	   do
	   :: a < ACCEPTORS ->
	      d_step {
		if
		:: acc[a].promised <= b ->
		   acc[a].promised = b;
		   acc[a].ballot = b;
		   acc[a].value = value;
		   votes[b]++;
		   if
		   :: votes[b] == MAJORITY ->
		      assert(chosen == NOTHING || chosen == value);
		      chosen = value
		   :: else
		   fi
		:: else
		fi;
		a++
	      }
	   :: a < ACCEPTORS -> a++                              /* lost */
	   :: else -> break
	   od;
again:
	   atomic { a = 0; answers = 0; highest = 0; value = NOTHING }
	:: else -> break
	od
}

init {
	atomic {
		run proposer(1, ROUNDS);
		run proposer(2, 1)
	}
}

ltl agrees { <> (chosen != NOTHING) }
