/*
  A broken lock: test the flag, then set it.

  The mistake that everybody makes once.  A variant of it is among the failed
  attempts that E. W. Dijkstra walks through in "Cooperating sequential
  processes" (EWD 123, 1965) before he presents Dekker's algorithm.

  Each process waits until the lock is free and then takes it.  Between the
  two steps another process can do just the same.  The repair is to make them
  one step, as `lock` below does when the macro REPAIRED is defined.

  Checked: the assertion that at most one process is inside.  It is violated:
  both see `locked == false`, both set it, both go in.

  expect deadlock: holds
  expect assertions: violated
  expect states: 52

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

bool locked;
byte inside;        /* ghost */

inline lock()
{
#ifdef REPAIRED
	atomic { !locked -> locked = true }
#else
	!locked;            /* test ...                          */
	locked = true       /* ... then set, one step too late   */
#endif
}

active [2] proctype process()
{
	do
	:: lock();
	   inside++;
	   assert(inside == 1);
	   inside--;
	   locked = false
	od
}
