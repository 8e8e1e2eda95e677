/*
  Szymanski's mutual exclusion algorithm, three processes.

  Source: B. K. Szymanski, "A simple solution to Lamport's concurrent
  programming problem with linear wait", ICS 1988.

  Picture a waiting room with an entry door and an exit door.  Processes come
  in while the entry door is open; the last one in closes it and opens the
  exit; all those inside then leave through the critical section, lowest
  number first; the last one out opens the entry again.  Everything a process
  tells the others is one small number, its flag:

     0 not interested         1 wants to come in
     2 inside, waiting for others to come in
     3 standing in the entry door
     4 entry door closed, on the way through

  The conditions over all processes are checked here by looking at the flags
  one at a time, as a real program has to: nothing is assumed atomic but the
  single read and the single write.

  Checked:
  - the assertion: mutual exclusion;
  - absence of deadlock;
  - `served`: process 2, the one with the lowest precedence, gets in whenever
    it wants to, if the scheduler is weakly fair ("linear wait").

  expect deadlock: holds
  expect assertions: holds
  expect states: 40352
  expect ltl served (weak fairness): holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  3

byte flag[N];
byte inside;        /* ghost */

/* wait until cond, which speaks of j, has been seen for each j in from..to-1 */
inline await_each(from, to, cond)
{
	j = from;
	do
	:: j < to -> atomic { cond; j++ }
	:: else -> break
	od
}

active [N] proctype process()
{
	byte j;

	do
	:: true;                                        /* non-critical section */
	   flag[_pid] = 1;
want:	   await_each(0, N, flag[j] < 3);               /* the entry is open    */
	   flag[_pid] = 3;

	   j = 0;                                       /* is anybody coming?   */
	   do
	   :: j == N -> break
	   :: j < N && flag[j] == 1 ->
	      flag[_pid] = 2;
	      j = 0;
	      do                                        /* await some flag == 4 */
	      :: flag[j] == 4 -> break
	      :: flag[j] != 4 -> j = (j + 1) % N
	      od;
	      break
	   :: j < N && flag[j] != 1 -> j++
	   od;

	   flag[_pid] = 4;
	   await_each(0, _pid, flag[j] < 2);            /* lower numbers first  */

	   inside++;
critical:  assert(inside == 1);
	   inside--;

	   await_each(_pid + 1, N, flag[j] < 2 || flag[j] > 3);
	   flag[_pid] = 0;
	   j = 0
	od
}

ltl served { [] (process[2]@want -> <> process[2]@critical) }
