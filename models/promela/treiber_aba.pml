/*
  Treiber's lock-free stack, with the ABA bug.

  Source: R. K. Treiber, "Systems programming: coping with parallelism", IBM
  Research Report RJ 5118, 1986; the ABA problem is described in the IBM
  System/370 Principles of Operation and in M. M. Michael and M. L. Scott,
  "Simple, fast, and practical non-blocking and blocking concurrent queue
  algorithms", PODC 1996.

  The memory is modelled by arrays: nodes are numbered from 1, 0 is the null
  pointer, and next[n] is the link of node n.  Threads pop nodes, own them for
  a while, and push them again: nodes are reused, and this is what breaks it.

     thread 0: pop: reads top = 1, next[1] = 2, and is interrupted
     thread 1: pops 1, pops 2, pushes 1 again: now top = 1, next[1] = 3
     thread 0: compare-and-swap finds top == 1 and sets top to 2,
               a node which thread 1 owns

  The compare-and-swap cannot see that top went from 1 (A) to something else
  (B) and back.  treiber_tagged.pml repairs it with a version number.

  Checked: the assertions, which use the ghost array `owner`: a node that is
  popped, and the node that becomes the new top, are really on the stack.
  Violated.

  expect deadlock: holds
  expect assertions: violated
  expect states: 14768

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define NODES    3
#define THREADS  2
#define OPS      3              /* operations by each thread */
#define NULL     0
#define STACK    255            /* owner of a node that is on the stack */

byte top = 1;                   /* the stack is 1 -> 2 -> 3 to begin with */
byte next[NODES + 1];
byte owner[NODES + 1];          /* ghost */

inline pop()
{
	do
	:: t = top;
	   if
	   :: t == NULL -> break                /* empty */
	   :: else
	   fi;
	   n = next[t];
	   atomic {                             /* compare-and-swap */
		if
		:: top == t ->
		   top = n;
		   assert(owner[t] == STACK);
		   assert(n == NULL || owner[n] == STACK);
		   owner[t] = me;
		   break
		:: else                         /* somebody was faster */
		fi
	   }
	od;
	atomic { t = NULL; n = NULL }
}

/* push node n, which this thread owns */
inline push()
{
	do
	:: t = top;
	   next[n] = t;
	   atomic {
		if
		:: top == t ->
		   top = n;
		   owner[n] = STACK;
		   break
		:: else
		fi
	   }
	od;
	atomic { t = NULL; n = NULL }
}

proctype thread(byte me)
{
	byte t, n;              /* old and new value of top */
	byte ops;

	do
	:: ops < OPS ->
	   ops++;
	   if
	   :: pop()
	   :: atomic { owner[1] == me -> n = 1 }; push()
	   :: atomic { owner[2] == me -> n = 2 }; push()
	   :: atomic { owner[3] == me -> n = 3 }; push()
	   fi
	:: else -> break
	od
}

init {
	byte i;

	atomic {
		for (i : 1 .. NODES) {
			owner[i] = STACK;
			next[i] = (i < NODES -> i + 1 : NULL)
		};
		for (i : 0 .. THREADS - 1) {
			run thread(i)
		}
	}
}
