/*
  Store-and-forward deadlock in a ring of switching nodes.

  Source: the deadlock is described in P. M. Merlin and P. J. Schweitzer,
  "Deadlock avoidance in store-and-forward networks - I: Store-and-forward
  deadlock", IEEE Transactions on Communications 28(3), 1980.

  Each node has a buffer for B messages.  A message goes round the ring, from
  the buffer of one node to that of the next, until it is where it should be:
  two nodes on.  A node takes a message out of its buffer, and delivers it, or
  waits for room in the next buffer.  Users put messages into the buffer of
  their node whenever there is room.

  Checked:
  - absence of deadlock.  Violated: users may fill all buffers while every node
    has a message in its hands for the next one.

  NODES and B can be set on the command line; docs/directed.md has figures.

  expect deadlock: violated
  expect assertions: holds
  expect states: 33552

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef NODES
#define NODES  3
#endif
#ifndef B
#define B      1
#endif

chan buffer[NODES] = [B] of { byte };   /* where the messages are to go */

active [NODES] proctype node()
{
	byte goal;

	do
	:: buffer[_pid] ? goal ->
	   if
	   :: goal == _pid                              /* delivered */
	   :: else -> buffer[(_pid + 1) % NODES] ! goal
	   fi;
	   goal = 0
	od
}

active [NODES] proctype user()
{
	byte here = _pid - NODES;

	do
	:: buffer[here] ! (here + 2) % NODES
	od
}
