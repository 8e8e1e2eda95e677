/*
  The sleeping barber.

  Source: E. W. Dijkstra, "Cooperating sequential processes", EWD 123, 1965.

  A barber's shop has one barber, a chair to cut hair in, and CHAIRS places to
  wait.  The barber sleeps when there are no customers.  A customer who finds
  all places taken leaves.  The usual solution has three semaphores: customers
  (who wait to be served), barber (ready to cut) and a mutex for the count.

  Checked:
  - the assertions: never more customers waiting than chairs, and the barber
    cuts the hair of exactly one customer at a time;
  - absence of deadlock;
  - `works`: hair is cut again and again.  Violated, even under weak fairness:
    customers who look in, find the shop full, and come back at once may pass
    the mutex among themselves, and the barber, who needs it to call the next
    one, never gets hold of it.  A fair scheduler is not enough; the semaphore
    itself would have to be fair;
  - `works_if_fair`: if the barber gets the mutex whenever it is free again and
    again while he waits for it (strong fairness, stated as a premise), then
    hair is cut again and again.  So no wakeup is ever lost;
  - `first_served`: customer 0 is served again and again.  Violated: the shop
    may be full whenever this customer comes.

  expect deadlock: holds
  expect assertions: holds
  expect states: 1345
  expect ltl works (weak fairness): violated
  expect ltl works_if_fair (weak fairness): holds
  expect ltl first_served (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define CUSTOMERS  4
#define CHAIRS     2

byte customers = 0;             /* semaphores */
byte barber    = 0;
byte mutex     = 1;

byte waiting;                   /* customers on the chairs */
byte in_chair;                  /* ghost: being served     */
bool cut[CUSTOMERS];            /* ghost: being served     */

chan seated   = [0] of { bool };  /* customer to barber: I sit        */
chan finished = [0] of { bool };  /* barber to customer: you may go   */

inline wait(s)   { atomic { s > 0 -> s-- } }
inline signal(s) { s++ }

active [CUSTOMERS] proctype customer()
{
	do
	:: wait(mutex);
	   if
	   :: waiting < CHAIRS ->
	      waiting++;
	      assert(waiting <= CHAIRS);
	      signal(customers);
	      signal(mutex);
	      wait(barber);
	      atomic { in_chair++; cut[_pid] = true };
	      seated ! true;                        /* sit down ...           */
	      atomic { finished ? true; in_chair--; cut[_pid] = false }
	   :: else ->
	      signal(mutex)                         /* full: come back later  */
	   fi
	od
}

active proctype the_barber()
{
	do
	:: wait(customers);                         /* sleep                  */
call_next: wait(mutex);
	   waiting--;
	   signal(barber);
	   signal(mutex);
	   seated ? true;
	   assert(in_chair == 1);
	   finished ! true
	od
}

#define calling  the_barber@call_next

ltl works         { [] <> (in_chair > 0) }
ltl works_if_fair { ([] <> (calling && mutex > 0) -> [] <> !calling) -> [] <> (in_chair > 0) }
ltl first_served  { [] <> cut[0] }
