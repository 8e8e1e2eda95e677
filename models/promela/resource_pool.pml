/*
  A pool of equal resources, from which each process takes what it needs one by
  one.

  Source: E. W. Dijkstra's banker ("Cooperating sequential processes", EWD 123,
  1965), without the banker.

  Each of N processes needs NEED units of a resource (tape drives, in the
  textbooks) at once.  It asks for one after the other, works, and gives them
  back one by one.  Nobody looks whether all can still be satisfied.

  Checked:
  - the assertion: no more than there are units are in use.  It holds;
  - absence of deadlock.  Violated where UNITS <= N * (NEED - 1): all units may
    be in the hands of processes that need one more.

  N, NEED and UNITS can be set on the command line; docs/directed.md has figures.

  expect deadlock: violated
  expect assertions: holds
  expect states: 7952

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef N
#define N      3
#endif
#ifndef NEED
#define NEED   3
#endif
#ifndef UNITS
#define UNITS  5
#endif

byte free = UNITS;

active [N] proctype user()
{
	byte held;

	do
	:: held < NEED ->
	   atomic { free > 0 -> free-- };
	   held++
	:: held == NEED ->
	   /* work */
	   do
	   :: held > 0 -> held--; free++; assert(free <= UNITS)
	   :: held == 0 -> break
	   od
	od
}
