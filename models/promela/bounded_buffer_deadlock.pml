/*
  Producers and consumers, with the producer's two waits in the wrong order.

  Source: the warning that goes with E. W. Dijkstra's bounded buffer in every
  operating systems textbook ("Cooperating sequential processes", 1965).

  As bounded_buffer.pml, but the producer enters the critical section first and
  only then waits for a free slot.  When the buffer is full it sleeps with the
  mutex in its hands, and no consumer can get in to make room.

  Checked:
  - absence of deadlock: violated, as just described;
  - the assertions about the buffer: they hold nevertheless.

  expect deadlock: violated
  expect assertions: holds
  expect states: 348

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef SLOTS
#define SLOTS  2
#endif
#ifndef PRODUCERS
#define PRODUCERS  2
#endif
#ifndef CONSUMERS
#define CONSUMERS  2
#endif

byte spaces = SLOTS;
byte items  = 0;
byte mutex  = 1;

byte buffer[SLOTS];
byte head, tail;

inline wait(s)   { atomic { s > 0 -> s-- } }
inline signal(s) { s++ }

active [PRODUCERS] proctype producer()
{
	do
	:: wait(mutex);             /* wrong: ...                      */
	   wait(spaces);            /* ... these two ought to be swapped */
	   assert(buffer[tail] == 0);
	   buffer[tail] = 1;
	   tail = (tail + 1) % SLOTS;
	   signal(mutex);
	   signal(items)
	od
}

active [CONSUMERS] proctype consumer()
{
	do
	:: wait(items);
	   wait(mutex);
	   assert(buffer[head] == 1);
	   buffer[head] = 0;
	   head = (head + 1) % SLOTS;
	   signal(mutex);
	   signal(spaces)
	od
}
