/*
  The sleeping barber without semaphores: a wakeup is lost.

  Source: the problem is E. W. Dijkstra's ("Cooperating sequential processes",
  EWD 123, 1965); the race is the textbooks' reason for semaphores (A. S.
  Tanenbaum, "Modern Operating Systems", on sleep and wakeup).

  The barber looks whether somebody waits; if not he goes to sleep.  A customer
  who comes in wakes him if he sleeps.  Looking and going to sleep are two
  steps: a customer who comes in between finds him awake, and sits down, and
  the barber goes to sleep all the same.  The next customer wakes him; but if
  all come in between, there is none.

  Checked:
  - the assertion: there is no haircut without a customer.  It holds;
  - absence of deadlock.  Violated: the barber sleeps, and all wait.
    sleeping_barber.pml has the solution.

  CUSTOMERS can be set on the command line; docs/directed.md has figures.

  expect deadlock: violated
  expect assertions: holds
  expect states: 397

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef CUSTOMERS
#define CUSTOMERS  3
#endif

byte waiting;
bool asleep;

chan chair = [0] of { bool };   /* the barber calls a customer */
chan done  = [0] of { bool };   /* and tells that the hair is cut */

active [CUSTOMERS] proctype customer()
{
	do
	:: waiting++;                   /* come in, hang up the coat, sit down */
	   if
	   :: asleep -> asleep = false  /* wake the barber */
	   :: else
	   fi;
	   chair ? true;
	   done ? true                  /* go out into the world */
	od
}

active proctype barber()
{
	do
	:: if
	   :: waiting == 0 ->           /* nobody: sleep */
	      asleep = true;
	      !asleep
	   :: else
	   fi;
	   chair ! true;
	   assert(waiting > 0);
	   waiting--;
	   done ! true
	od
}
