/*
  The dining philosophers, who all take their left fork first.

  Source: the problem is E. W. Dijkstra's ("Hierarchical ordering of
  sequential processes", 1971); the philosophers are C. A. R. Hoare's.

  Five philosophers sit round a table with one fork between any two of them;
  eating takes both neighbouring forks.  Here each takes the left one, then
  the right one.

  Checked:
  - the assertion: no two neighbours eat at once.  It holds;
  - absence of deadlock.  Violated: all five can hold their left fork and wait
    for the right one.  philosophers_asymmetric.pml repairs it.

  expect deadlock: violated
  expect assertions: holds
  expect states: 1022

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef N
#define N  5
#endif
bool taken[N];      /* fork i lies to the left of philosopher i */
bool eating[N];     /* ghost */
#define left   _pid
#define right  ((_pid + 1) % N)

inline take(fork) { atomic { !taken[fork] -> taken[fork] = true } }
inline drop(fork) { taken[fork] = false }

active [N] proctype philosopher()
{
	do
	:: /* think */
	   take(left);
	   take(right);

	   eating[_pid] = true;
	   assert(!eating[(_pid + 1) % N] && !eating[(_pid + N - 1) % N]);
	   eating[_pid] = false;

	   drop(right);
	   drop(left)
	od
}
