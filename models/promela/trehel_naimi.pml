/*
  Distributed mutual exclusion with O(log n) messages, Trehel and Naimi.

  Source: M. Trehel, M. Naimi, "Un algorithme distribué d'exclusion mutuelle",
  Technique et Science Informatiques 6(2), 1987.  P. Godefroid's thesis on
  partial-order methods (1995) measures on a model of it, which it does not
  print; this one is ours.

  Whoever has the token may enter.  A site sends its request to its `father`,
  whom it believes to be the last in the queue of those who wait, and is then
  the last one itself.  A site that gets a request and has a father passes it
  on; the last one in the queue notes the sender as its `next`, or gives it the
  token at once if it does not need it.  In both cases the sender becomes the
  new father, so that ways get shorter.

  Each of the three sites has two processes, which share its variables: one
  asks for the critical section ROUNDS times, the other one answers messages.
  What they decide is decided in one step, and sent in another.

  Checked:
  - the assertion: never two in the critical section;
  - absence of deadlock: everybody is served and comes to the end.  The
    handlers may wait for ever.

  With -D ROUNDS=2 there are 314,955 states, with -D ROUNDS=3 1,477,843.
  Partial-order reduction leaves some 2,000 of the 18,839.

  expect deadlock: holds
  expect assertions: holds
  expect states: 18839

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef N
#define N       3
#endif
#ifndef ROUNDS
#define ROUNDS  1
#endif
#define NONE    N

mtype = { request, token };

typedef Site {
	byte father = NONE;     /* NONE: nobody is behind it in the queue         */
	byte next = NONE;       /* who gets the token from it; NONE: nobody (yet) */
	bool has_token;
	bool wants              /* it waits for the critical section, or is in it */
};

Site site[N];
chan inbox[N] = [N] of { mtype, byte };
byte inside;                    /* ghost: how many are in the critical section    */

proctype requester(byte me)
{
	byte to, round;

	for (round : 1 .. ROUNDS) {
		d_step {
			site[me].wants = true;
			to = site[me].father;
			site[me].father = NONE
		};
		atomic {
			if
			:: to != NONE -> inbox[to]!request(me)
			:: else
			fi;
			to = 0
		};
		site[me].has_token;

		inside++;
		assert(inside == 1);
		inside--;

		d_step {
			site[me].wants = false;
			to = site[me].next;
			if
			:: to != NONE -> site[me].next = NONE; site[me].has_token = false
			:: else
			fi
		};
		atomic {
			if
			:: to != NONE -> inbox[to]!token(0)
			:: else
			fi;
			to = 0
		}
	}
}

proctype handler(byte me)
{
	mtype what;
	byte who, to;

end:	do
	:: inbox[me]?what(who) ->
	   d_step {
		if
		:: what == token -> site[me].has_token = true; to = NONE
		:: else ->
		   to = site[me].father;
		   site[me].father = who;
		   if
		   :: to != NONE                    /* passes it on */
		   :: to == NONE && site[me].wants -> site[me].next = who
		   :: else -> site[me].has_token = false; to = who; what = token; who = 0
		   fi
		fi
	   };
	   atomic {
		if
		:: to != NONE -> inbox[to]!what(who)
		:: else
		fi;
		what = 0; who = 0; to = 0
	   }
	od
}

init {
	atomic {
		byte i;
		for (i : 0 .. N - 1) {
			run requester(i);
			run handler(i);
			if
			:: i == 0 -> site[i].has_token = true
			:: else -> site[i].father = 0
			fi
		}
		i = 0
	}
}
