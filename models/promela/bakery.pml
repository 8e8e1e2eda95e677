/*
  Lamport's bakery algorithm for three customers, with bounded tickets.

  Source: L. Lamport, "A new solution of Dijkstra's concurrent programming
  problem", Communications of the ACM 17(8), 1974.

  A customer draws a ticket one higher than any it sees; the lowest ticket is
  served, and ties (two customers may draw the same number, since drawing is
  not atomic) are broken by process number.  `choosing` tells the others that
  a ticket is being drawn.  In the original the tickets can grow without bound
  while the shop is never empty; to keep the model finite a customer that sees
  the highest ticket MAX gives up and tries again later.

  Checked:
  - the assertion: at most one customer is served at a time.  It holds: the
    bound only delays customers, and never lets two compare wrong tickets;
  - absence of deadlock.

  Every ticket is read in a step of its own, so that a customer's view of the
  maximum may be out of date when it writes its own ticket.  That is the heart
  of the algorithm, and the reason for `choosing`.

  expect deadlock: holds
  expect assertions: holds
  expect states: 95380

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N    3      /* customers      */
#define MAX  3      /* highest ticket */

bool choosing[N];
byte number[N];     /* 0: not interested */
byte served;        /* ghost: number of customers being served */

active [N] proctype customer()
{
	byte j, highest;

	do
	:: choosing[_pid] = true;

	   /* draw a ticket: look at one customer after the other */
	   do
	   :: j < N ->
	      atomic {
	         if
	         :: number[j] > highest -> highest = number[j]
	         :: else
	         fi;
	         j++
	      }
	   :: else -> break
	   od;

	   if
	   :: highest < MAX ->
	      number[_pid] = highest + 1;
	      d_step { choosing[_pid] = false; highest = 0; j = 0 };

	      /* wait for everybody who is choosing or who comes before us */
	      do
	      :: j < N ->
	         !choosing[j];
	         atomic {
	            (number[j] == 0 || number[j] > number[_pid] ||
	             (number[j] == number[_pid] && j >= _pid));
	            j++
	         }
	      :: else -> break
	      od;

	      served++;
	      assert(served == 1);
	      d_step { served--; j = 0 };
	      number[_pid] = 0

	   :: else ->                       /* no tickets left: try again */
	      d_step { choosing[_pid] = false; highest = 0; j = 0 }
	   fi
	od
}
