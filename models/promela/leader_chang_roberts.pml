/*
  Leader election in a one-way ring: the algorithm of Chang and Roberts.

  Source: E. Chang and R. Roberts, "An improved algorithm for decentralized
  extrema-finding in circular configurations of processes", Communications of
  the ACM 22(5), 1979.

  Every node sends its identity round the ring.  A node passes on what is
  larger than its own identity and swallows what is smaller.  Whoever sees its
  own identity come back has won, and announces it in a second round.

  The identities are dealt by `init` in every possible order (a shuffle after
  Fisher and Yates, in which each order comes up in exactly one way), so that
  one run of the checker covers all rings of N nodes.

  Checked:
  - the assertions: the node with the largest identity wins, there is only one
    winner, everybody agrees on it, no message is left over, and the election
    takes at most N(N+1)/2 messages, the worst case given in the paper;
  - absence of deadlock (all nodes terminate);
  - `elects`: a leader is elected eventually, in every run.

  expect deadlock: holds
  expect assertions: holds
  expect states: 14965
  expect ltl elects: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  4

mtype = { candidate, elected };

chan ring[N] = [N] of { mtype, byte };  /* ring[i] leads to node i */

byte identity[N];
byte leaders;           /* how many have declared themselves leader */
byte messages;          /* ghost: `candidate` messages sent so far  */

inline propose(x)
{
	atomic {
		ring[(me + 1) % N] ! candidate(x);
		messages++;
		assert(messages <= N * (N + 1) / 2)
	}
}

proctype node(byte me)
{
	byte n;

	propose(identity[me]);
	do
	:: ring[me] ? candidate(n) ->
	   if
	   :: n > identity[me] -> propose(n)
	   :: n < identity[me] -> skip
	   :: else ->                           /* it is our own: we have won */
	      leaders++;
	      assert(leaders == 1 && n == N);
	      ring[(me + 1) % N] ! elected(n)
	   fi
	:: ring[me] ? elected(n) ->
	   assert(n == N);
	   if
	   :: n != identity[me] -> ring[(me + 1) % N] ! elected(n)
	   :: else -> skip                      /* it has been all the way round */
	   fi;
	   break
	od;
	assert(empty(ring[me]))
}

init {
	byte i, j;

	atomic {
		for (i : 0 .. N - 1) {
			select (j : 0 .. i);
			identity[i] = identity[j];  /* no-op when i == j */
			identity[j] = i + 1
		};
		for (i : 0 .. N - 1) {
			run node(i)
		};
		i = 0;
		j = 0
	}
}

ltl elects { <> (leaders == 1) }
