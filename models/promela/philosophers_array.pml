/*
  The dining philosophers as a Petri net in one process.

  Source: the problem is E. W. Dijkstra's ("Hierarchical ordering of sequential
  processes", 1971).  The net is the one that stubborn sets are often shown
  with: a place for each state of a philosopher and for each fork, a transition
  for each step.

  The arrays are the places; a bit is set where the place has its token.  A
  transition is an option of the one loop: a d_step that waits for its tokens,
  takes them away and puts down others.  There are no processes whose steps
  could be told apart.  What can be left out is seen only by who looks at the
  elements of the arrays, one by one: two transitions with no place in common
  are independent, and one that lacks a token waits for those that bring it.

  Checked: absence of deadlock.  Violated: all ten can hold their left fork and
  wait for the right one.

  Partial-order reduction leaves 182 of the 6,726 states.

  expect deadlock: violated
  expect assertions: holds
  expect states: 6726

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  10

#define right(i)  ((i + 1) % N)

bool fork[N] = 1;       /* the fork to the left of philosopher i is on the table */
bool thinks[N] = 1;
bool waits[N];          /* he has the left fork */
bool eats[N];           /* he has both          */

#define TAKE_LEFT(i)   d_step { thinks[i] && fork[i] -> thinks[i] = 0; fork[i] = 0; waits[i] = 1 }
#define TAKE_RIGHT(i)  d_step { waits[i] && fork[right(i)] -> waits[i] = 0; fork[right(i)] = 0; eats[i] = 1 }
#define RELEASE(i)     d_step { eats[i] -> eats[i] = 0; fork[i] = 1; fork[right(i)] = 1; thinks[i] = 1 }

#define PHILOSOPHER(i) :: TAKE_LEFT(i) :: TAKE_RIGHT(i) :: RELEASE(i)

init
{
	do
	PHILOSOPHER(0)
	PHILOSOPHER(1)
	PHILOSOPHER(2)
	PHILOSOPHER(3)
	PHILOSOPHER(4)
	PHILOSOPHER(5)
	PHILOSOPHER(6)
	PHILOSOPHER(7)
	PHILOSOPHER(8)
	PHILOSOPHER(9)
	od
}
