/*
  Treiber's lock-free stack, with a version tag against the ABA bug.

  Source: R. K. Treiber, "Systems programming: coping with parallelism", IBM
  Research Report RJ 5118, 1986.  The tag is the remedy for which the IBM
  System/370 had its double-word compare-and-swap.

  As treiber_aba.pml, but `top` is a pair of a node and a version number.  Both
  are read together and compared together, and every successful
  compare-and-swap increases the version.  A stack top that has been away and
  has come back carries another version, and the late compare-and-swap fails.

  A real tag has finitely many bits and may come round again.  Here each thread
  performs OPS operations, so that the tag, a byte, cannot overflow.

  Checked:
  - the assertions of treiber_aba.pml, which now hold;
  - absence of deadlock;
  - `terminates`: both threads finish their operations, even under an unfair
    scheduler: the stack is lock-free, that is, a thread has to try again only
    if another one has succeeded.

  expect deadlock: holds
  expect assertions: holds
  expect states: 18861
  expect ltl terminates: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define NODES    3
#define THREADS  2
#define OPS      3              /* operations by each thread */
#define NULL     0
#define STACK    255            /* owner of a node that is on the stack */

typedef versioned {
	byte node;
	byte version
};

versioned top;                  /* the stack is 1 -> 2 -> 3 to begin with */
byte next[NODES + 1];
byte owner[NODES + 1];          /* ghost */
byte finished;                  /* ghost: threads that are done */

/* a double-word read: node and version at once */
inline read_top() { d_step { t = top.node; v = top.version } }

inline pop()
{
	do
	:: read_top();
	   if
	   :: t == NULL -> break                /* empty */
	   :: else
	   fi;
	   n = next[t];
	   atomic {                             /* compare-and-swap */
		if
		:: top.node == t && top.version == v ->
		   top.node = n;
		   top.version++;
		   assert(owner[t] == STACK);
		   assert(n == NULL || owner[n] == STACK);
		   owner[t] = me;
		   break
		:: else                         /* somebody was faster */
		fi
	   }
	od;
	atomic { t = NULL; n = NULL; v = 0 }
}

/* push node n, which this thread owns */
inline push()
{
	do
	:: read_top();
	   next[n] = t;
	   atomic {
		if
		:: top.node == t && top.version == v ->
		   top.node = n;
		   top.version++;
		   owner[n] = STACK;
		   break
		:: else
		fi
	   }
	od;
	atomic { t = NULL; n = NULL; v = 0 }
}

proctype thread(byte me)
{
	byte t, n;              /* old and new value of top.node */
	byte v;                 /* the version that goes with t  */
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
	od;
	finished++
}

init {
	byte i;

	atomic {
		top.node = 1;
		for (i : 1 .. NODES) {
			owner[i] = STACK;
			next[i] = (i < NODES -> i + 1 : NULL)
		};
		for (i : 0 .. THREADS - 1) {
			run thread(i)
		}
	}
}

ltl terminates { <> (finished == THREADS) }
