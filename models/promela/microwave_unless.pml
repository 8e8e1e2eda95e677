/*
  A microwave oven, whose program is interrupted: unless and d_step.

  Source: written for this collection; the oven is a running example of
  E. M. Clarke, O. Grumberg and D. Peled, "Model Checking", 1999.

  The oven's program is an ordinary loop.  What happens when the door is opened
  or the power fails is said once, after `unless`, instead of at every step:

     { { program } unless { the door is open } } unless { power failure }

  An escape clause is looked at before every step of its main sequence.  If it
  can be executed it is, and the rest of the main sequence is abandoned.  So no
  step of the program is ever taken with the door open, although no step of the
  program asks for the door.  The escapes nest: a power failure interrupts the
  handling of the open door as well.

  What the electronics do at once is a d_step: one indivisible, deterministic
  step.  An escape clause cannot interrupt it.

  Checked:
  - the assertions: the magnetron is never switched on, and the food is never
    heated, with the door open or without power;
  - absence of deadlock;
  - `off_soon`: after the door has been opened the magnetron goes off, or the
    door is closed again.  It holds under weak fairness.  Without it, power
    failures may come and go for ever and the oven never gets to react; note
    that an escape clause has priority over its own main sequence only, and
    not over other processes.

  expect deadlock: holds
  expect assertions: holds
  expect states: 440
  expect ltl off_soon: violated
  expect ltl off_soon (weak fairness): holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define MINUTES  3

bool door_open;
bool power = true;
bool start;                     /* the start button has been pressed */
bool magnetron, lamp;
byte minutes;                   /* left on the clock                 */

active proctype oven()
{
off:
	{
	   {
		do
		:: start ->
		   d_step {             /* the program starts */
			assert(!door_open && power);
			start = false;
			minutes = MINUTES;
			magnetron = true;
			lamp = true
		   };
		   do
		   :: minutes > 0 ->
		      assert(!door_open && power && magnetron);
		      minutes--
		   :: minutes == 0 ->
		      d_step { magnetron = false; lamp = false };
		      break
		   od
		od
	   } unless {
		door_open ->
		d_step { magnetron = false; lamp = true; minutes = 0; start = false };
		!door_open;             /* the lamp stays on until it is closed */
		lamp = false;
		goto off
	   }
	} unless {
		!power ->
		d_step { magnetron = false; lamp = false; minutes = 0; start = false };
		power;                  /* wait until it comes back */
		goto off
	}
}

active proctype user()
{
	do
	:: atomic { !start && !door_open -> start = true }
	:: door_open = !door_open
	od
}

active proctype electricity()
{
	do
	:: power -> power = false
	:: !power -> power = true
	od
}

ltl off_soon { [] (door_open -> <> (!magnetron || !door_open)) }
