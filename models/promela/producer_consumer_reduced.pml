/*
  A producer and a consumer, reduced to two states.

  Source: Example 8.1 of P. Godefroid, "Partial-Order Methods for the
  Verification of Concurrent Systems", 1995, where the channel holds 1000
  messages.

  A send to a channel that is not full and a receive from one that is not empty
  do not disturb each other: in whatever order they are done, the result is the
  same, since they are at different ends.  So where both can be done, it is
  enough to do one of them.  If that is the receive, the search sees the empty
  channel and the channel with one message, whatever its capacity.

  Of two sets with one transition each, `ample` does not take the one that only
  sends.  If it did, the search would fill the channel before it takes anything
  out, and see all states, though each of them once.  It does not matter which
  of the two processes comes first.

  Checked: absence of deadlock.  There is nothing else to be checked.

  expect deadlock: holds
  expect assertions: holds
  expect states: 101

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

chan queue = [100] of { bit };

active proctype consumer()
{
	do
	:: queue?_
	od
}

active proctype producer()
{
	do
	:: queue!1
	od
}
