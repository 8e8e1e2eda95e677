/*
  Traffic lights at a crossing, with car sensors and a pedestrian button.

  Source: the running example of many introductions to model checking; see
  E. M. Clarke, E. A. Emerson and A. P. Sistla, "Automatic verification of
  finite-state concurrent systems using temporal logic specifications", 1986,
  for an early one.

  Three signal heads (north-south, east-west, pedestrians) are independent
  units that obey commands sent over channels and report when they are done, so
  that there is always some time between a command and its effect.  The
  controller gives green to one of those who wait, in cyclic order, and waits
  for the report that a head is red before it gives the next command.

  Checked:
  - the assertion and `exclusive`: at most one of the heads is not red;
  - absence of deadlock: when nobody waits, the controller rests, which is no
    deadlock because somebody may come;
  - `amber`: green is always followed by amber, never directly by red;
  - `ns_served`: cars from north or south get green, since the order is cyclic.
    No fairness is needed: traffic that waits stays waiting, so that sooner or
    later nobody but the controller and the signal heads can move.

  expect deadlock: holds
  expect assertions: holds
  expect states: 667
  expect ltl exclusive: holds
  expect ltl amber: holds
  expect ltl ns_served: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define HEADS  3
#define NS     0
#define EW     1
#define WALK   2

mtype:colour  = { red, amber_light, green };
mtype:command = { go, stop, done };

mtype:colour light[HEADS] = red;
bool waiting[HEADS];                    /* a sensor or the button          */

chan order[HEADS]  = [1] of { mtype:command };
chan report        = [1] of { mtype:command };

#define lit(h)  (light[h] != red)

proctype head(byte h)
{
	do
	:: order[h] ? go ->
	   light[h] = green;
	   assert(lit(NS) + lit(EW) + lit(WALK) == 1);
	   report ! done
	:: order[h] ? stop ->
	   light[h] = amber_light;
	   light[h] = red;
	   report ! done
	od
}

proctype traffic(byte h)
{
	do
	:: !waiting[h] && light[h] == red -> waiting[h] = true
	od
}

proctype controller()
{
	byte next;

	do
	:: waiting[next] ->
	   order[next] ! go;
	   report ? done;
	   waiting[next] = false;               /* they drive, or walk */
	   order[next] ! stop;
	   report ? done;
	   next = (next + 1) % HEADS
	:: !waiting[next] && (waiting[NS] || waiting[EW] || waiting[WALK]) ->
	   next = (next + 1) % HEADS
	od
}

init {
	byte h;

	atomic {
		for (h : 0 .. HEADS - 1) {
			run head(h);
			run traffic(h)
		};
		run controller()
	}
}

ltl exclusive { [] (lit(NS) + lit(EW) + lit(WALK) <= 1) }
ltl amber     { [] (light[NS] == green ->
                    (light[NS] == green W light[NS] == amber_light)) }
ltl ns_served { [] (waiting[NS] -> <> (light[NS] == green)) }
