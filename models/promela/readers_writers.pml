/*
  Readers and writers: readers' preference.

  Source: P. J. Courtois, F. Heymans and D. L. Parnas, "Concurrent control with
  'readers' and 'writers'", Communications of the ACM 14(10), 1971, the first
  of the two problems solved there.

  Any number of readers may look at the data at once; a writer needs it alone.
  The first reader in locks the writers out, the last one out lets them in
  again; `mutex` protects the count of readers.

  Checked:
  - the assertions: a writer is alone; readers never meet a writer;
  - absence of deadlock;
  - `busy`: under weak fairness somebody uses the data again and again;
  - `writers_served`: some writer gets in again and again.  Violated, even under
    weak fairness, and this is the point of the paper's second problem: the
    readers can hand the data to one another and never let go.

  expect deadlock: holds
  expect assertions: holds
  expect states: 685
  expect ltl busy (weak fairness): holds
  expect ltl writers_served (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define READERS  3
#define WRITERS  2

byte mutex = 1;         /* semaphore: protects `count`          */
byte data  = 1;         /* semaphore: the right to use the data */
byte count;             /* readers that are in, or coming in    */

byte reading, writing;  /* ghosts: who is using the data now    */

inline wait(s)   { atomic { s > 0 -> s-- } }
inline signal(s) { s++ }

active [READERS] proctype reader()
{
	do
	:: wait(mutex);
	   count++;
	   if
	   :: count == 1 -> wait(data)
	   :: else
	   fi;
	   signal(mutex);

	   reading++;
	   assert(writing == 0);
	   reading--;

	   wait(mutex);
	   count--;
	   if
	   :: count == 0 -> signal(data)
	   :: else
	   fi;
	   signal(mutex)
	od
}

active [WRITERS] proctype writer()
{
	do
	:: wait(data);
	   writing++;
	   assert(writing == 1 && reading == 0);
	   writing--;
	   signal(data)
	od
}

ltl busy           { [] <> (reading + writing > 0) }
ltl writers_served { [] <> (writing > 0) }
