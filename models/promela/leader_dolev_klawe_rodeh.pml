/*
  Leader election in a one-way ring with O(n log n) messages.

  Source: D. Dolev, M. Klawe and M. Rodeh, "An O(n log n) unidirectional
  distributed algorithm for extrema finding in a circle", Journal of
  Algorithms 3(3), 1982; found independently by G. L. Peterson (1982).

  The nodes go through phases.  In each phase an active node learns the values
  held by its two nearest active predecessors.  It stays active, and takes over
  the value of its nearest predecessor, only if that value is a local maximum:
  larger than its own and larger than the one further back.  All others become
  relays.  At least every second active node drops out in each phase.  A node
  that receives its own value as its predecessor's is alone, and its value is
  the largest of all.

  Every channel has exactly one reader and one writer; the `xr` and `xs`
  declarations say so, which helps a partial-order reduction.  (They also forbid
  len(), empty() and full() on these channels, which would look at both ends.)

  Checked:
  - the assertions: a single winner, and the value it holds is the maximum (the
    winner itself need not be the node that started with it); and there are
    at most 1 + log2 N phases;
  - absence of deadlock: all nodes terminate;
  - `elects`: every run elects a leader.

  expect deadlock: holds
  expect assertions: holds
  expect states: 39690
  expect ltl elects: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N       4
#define PHASES  3       /* 1 + log2 N: half of the nodes drop out in each phase */

mtype = { first, second, winner };

chan link[N] = [2] of { mtype, byte };  /* link[i] leads to node i */

byte leaders;

proctype node(chan in, out; byte value)
{
	byte near, far;         /* values of the two nearest active predecessors */
	byte phases;            /* ghost */

	xr in;
	xs out;

	/* active */
	do
	:: phases++;
	   assert(phases <= PHASES);
	   out ! first(value);
	   in  ? first(near);
	   if
	   :: near == value -> goto alone
	   :: else
	   fi;
	   out ! second(near);
	   in  ? second(far);
	   if
	   :: near > value && near > far -> value = near
	   :: else -> break
	   fi
	od;

	/* passive: relay until the winner is announced */
	do
	:: in ? first(near)  -> out ! first(near)
	:: in ? second(near) -> out ! second(near)
	:: in ? winner(near) -> out ! winner(near); break
	od;
	assert(near == N);
	goto done;

alone:
	leaders++;
	assert(leaders == 1 && value == N);
	out ! winner(value);
	in ? winner(near);
done:
	skip
}

init {
	byte identity[N];
	byte i, j;

	atomic {
		/* deal the identities in every possible order */
		for (i : 0 .. N - 1) {
			select (j : 0 .. i);
			identity[i] = identity[j];
			identity[j] = i + 1
		};
		for (i : 0 .. N - 1) {
			run node(link[i], link[(i + 1) % N], identity[i])
		}
	}
}

ltl elects { <> (leaders == 1) }
