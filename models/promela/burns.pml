/*
  The one-bit algorithm of Burns and Lynch, three processes.

  Source: J. E. Burns and N. A. Lynch, "Bounds on shared memory for mutual
  exclusion", Information and Computation 107(2), 1993 (first presented in
  1980).  The paper shows that n bits are needed for n processes; this
  algorithm shows that n bits are enough.

  A process may raise its bit only when nobody with a lower number has raised
  its own, checks that again afterwards, and then waits for those with higher
  numbers to finish.  A process that meets a lower one starts all over.

  Checked:
  - the assertion and `mutex`: mutual exclusion;
  - absence of deadlock;
  - `progress`: under weak fairness somebody enters again and again;
  - `served`: process 2 enters whenever it wants to.  False, even under weak
    fairness: the lower numbers can always be in the way.  One bit a process
    buys exclusion and progress but not freedom from starvation.

  expect deadlock: holds
  expect assertions: holds
  expect states: 6885
  expect ltl mutex: holds
  expect ltl progress (weak fairness): holds
  expect ltl served (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  3

bool flag[N];
bool wants[N];      /* ghost: between request and service */
byte inside;        /* ghost: number in the critical section */

active [N] proctype process()
{
	byte j;

	do
	:: wants[_pid] = true;
again:	   flag[_pid] = false;

	   j = 0;                               /* first look at the lower ones  */
	   do
	   :: j <  _pid && flag[j]  -> goto again
	   :: j <  _pid && !flag[j] -> j++
	   :: j >= _pid -> break
	   od;

	   flag[_pid] = true;

	   j = 0;                               /* second look at the lower ones */
	   do
	   :: j <  _pid && flag[j]  -> goto again
	   :: j <  _pid && !flag[j] -> j++
	   :: j >= _pid -> break
	   od;

	   j = _pid + 1;                        /* let the higher ones finish    */
	   do
	   :: j < N -> atomic { !flag[j]; j++ }
	   :: else -> break
	   od;

	   atomic { inside++; wants[_pid] = false };
	   assert(inside == 1);
	   inside--;
	   flag[_pid] = false;
	   j = 0
	od
}

ltl mutex    { [] (inside <= 1) }
ltl progress { [] <> (inside == 1) }
ltl served   { [] (wants[2] -> <> !wants[2]) }
