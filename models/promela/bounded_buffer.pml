/*
  Producers and consumers sharing a bounded buffer, with semaphores.

  Source: E. W. Dijkstra, "Cooperating sequential processes", EWD 123, 1965.

  `spaces` counts the free slots, `items` the full ones, and `mutex` protects
  the buffer's indices.  wait() and signal() are Dijkstra's P and V.

  Checked:
  - the assertions: a producer never overwrites an item, a consumer never takes
    from an empty slot, and the semaphores add up to the buffer's size at most;
  - absence of deadlock;
  - `flows`: items are consumed again and again, even without any fairness: the
    producers alone cannot run for ever, and neither can the consumers.

  bounded_buffer_deadlock.pml shows what happens if the two waits of the
  producer are swapped.

  expect deadlock: holds
  expect assertions: holds
  expect states: 8178
  expect ltl flows: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define SLOTS  2

byte spaces = SLOTS;
byte items  = 0;
byte mutex  = 1;

byte buffer[SLOTS];     /* 0: free; otherwise who produced the item, plus 1 */
byte head, tail;        /* take from head, put at tail                      */
bool consumed;          /* ghost: true just after an item has been taken    */

inline wait(s)   { atomic { s > 0 -> s-- } }
inline signal(s) { s++ }

active [2] proctype producer()
{
	do
	:: wait(spaces);
	   wait(mutex);
	   assert(buffer[tail] == 0);
	   buffer[tail] = _pid + 1;
	   tail = (tail + 1) % SLOTS;
	   signal(mutex);
	   signal(items);
	   assert(spaces + items <= SLOTS)
	od
}

active [2] proctype consumer()
{
	byte item;

	do
	:: wait(items);
	   wait(mutex);
	   item = buffer[head];
	   assert(item == 1 || item == 2);
	   atomic { buffer[head] = 0; consumed = true };
	   atomic { head = (head + 1) % SLOTS; consumed = false };
	   signal(mutex);
	   signal(spaces);
	   item = 0
	od
}

ltl flows { [] <> consumed }
