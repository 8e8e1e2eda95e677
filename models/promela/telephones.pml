/*
  Telephones: everybody calls somebody who is calling.

  Source: plain old telephone service, a favourite of feature interaction
  contests and of directed model checking (S. Edelkamp, S. Leue and A. Lluch
  Lafuente, "Directed explicit-state model checking in the validation of
  communication protocols", 2004, use a larger one); this one is ours.

  A user picks up the receiver, so that the line is busy, dials any other
  number, and holds the line until the other one is free.  Then both lines are
  busy until the caller hangs up.  Nobody gives up.

  Checked:
  - the assertion: lines that are connected are busy.  It holds;
  - absence of deadlock.  Violated: all may have picked up their receivers and
    wait for each other.

  N can be set on the command line; docs/directed.md has figures.

  expect deadlock: violated
  expect assertions: holds
  expect states: 1692

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef N
#define N  3
#endif

bool busy[N];

active [N] proctype telephone()
{
	byte other;

	do
	:: atomic { !busy[_pid] -> busy[_pid] = true };         /* pick up */
	   other = (_pid + 1) % N;
	   do                                                   /* dial */
	   :: (other + 1) % N != _pid -> other = (other + 1) % N
	   :: break
	   od;
	   atomic { !busy[other] -> busy[other] = true };       /* wait for an answer */
	   assert(busy[_pid] && busy[other]);
	   busy[other] = false;                                 /* hang up */
	   busy[_pid] = false;
	   other = 0
	od
}
