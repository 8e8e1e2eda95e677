/*
  An elevator with four floors.

  Source: a favourite of the textbooks on reactive systems; the strategy is the
  "elevator algorithm" (SCAN) known from disk scheduling, P. J. Denning 1967.

  People press buttons at any time.  The controller goes on in its direction as
  long as there are calls ahead, turns round when there are only calls behind,
  and rests when there are none.  The car reports each floor it reaches, by a
  rendez-vous; the door is moved by the controller.

  Checked:
  - the assertions: the car moves only with the door closed, and never beyond
    the top or the bottom floor;
  - absence of deadlock (a resting elevator is not a deadlock: people can press
    a button);
  - `door_safe`: the same as the first assertion, as a formula;
  - `served`: a call from floor 2 is answered.  Needs weak fairness, since the
    elevator may otherwise be kept waiting by people pressing other buttons.
    It holds for a reason worth noting: after closing the door the controller
    leaves, if it is wanted elsewhere, even if somebody presses the button of
    the floor where it is.  Otherwise one floor could keep it.

  expect deadlock: holds
  expect assertions: holds
  expect states: 900
  expect ltl door_safe: holds
  expect ltl served: violated
  expect ltl served (weak fairness): holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define FLOORS  4

mtype = { up, down, halted };

bool call[FLOORS];
byte floor;
bool door_open;
mtype motor = halted;

chan sensor = [0] of { byte };          /* the car tells which floor it reaches */

#define above(f)  ((f < 1 && call[1]) || (f < 2 && call[2]) || (f < 3 && call[3]))
#define below(f)  ((f > 2 && call[2]) || (f > 1 && call[1]) || (f > 0 && call[0]))

active proctype people()
{
	do
	:: call[0] = true
	:: call[1] = true
	:: call[2] = true
	:: call[3] = true
	od
}

active proctype car()
{
	do
	:: motor == up ->
	   assert(!door_open && floor < FLOORS - 1);
	   floor++;
	   sensor ! floor
	:: motor == down ->
	   assert(!door_open && floor > 0);
	   floor--;
	   sensor ! floor
	od
}

active proctype controller()
{
	mtype direction = up;
	byte at;

	do
	:: atomic {
		/* somebody is waiting */
		call[at] || above(at) || below(at) ->
		if
		:: call[at] -> goto serve
		:: else     -> goto travel
		fi
	   };

serve:	   /* open the door, let people in and out, close it */
	   door_open = true;
	   call[at] = false;
	   door_open = false;

travel:	   /* choose a direction, if there is anything to do elsewhere */
	   atomic {
		if
		:: direction == up   && above(at)  -> motor = up
		:: direction == up   && !above(at) && below(at) -> direction = down; motor = down
		:: direction == down && below(at)  -> motor = down
		:: direction == down && !below(at) && above(at) -> direction = up; motor = up
		:: else -> goto rest
		fi
	   };

	   /* stop at the next floor; go on from there if nobody wants to leave */
	   atomic { sensor ? at -> motor = halted };
	   if
	   :: call[at] -> goto serve
	   :: else     -> goto travel
	   fi;
rest:	   skip
	od
}

ltl door_safe { [] (motor != halted -> !door_open) }
ltl served    { [] (call[2] -> <> (floor == 2 && door_open)) }
