/*
  A server with two modes: it answers requests, or ignores them.

  Source: M. Bozga, J.-C. Fernandez and L. Ghirvu, "State space reduction based
  on live variables analysis", SAS 1999; here as programs with the mode in a
  variable, as in K. Yorav, "Exploiting Syntactic Structure for Automatic
  Verification", Technion, 2000, section 3.3.4 ("simple").

  A client sends requests with arbitrary numbers, or tells the server to switch
  its mode.  In one mode the server outputs the number, in the other it ignores
  it; so the number it has received is dead there, but only there.

  Checked:
  - the assertions: what the user gets was requested;
  - absence of deadlock.

  expect deadlock: holds
  expect assertions: holds
  expect states: 62757

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define TOP  3          /* numbers 0 .. TOP-1 */

mtype = { request, switch };

chan to_server = [1] of { mtype, byte };
chan output = [1] of { byte };

active proctype client()
{
	byte number;

	do
	:: number = 0;
	   do
	   :: number < TOP - 1 -> number++
	   :: break
	   od;
	   to_server!request(number)
	:: to_server!switch(0)
	od
}

active proctype server()
{
	mtype kind;
	byte value;
	byte copy;
	bit silent;

	do
	:: to_server?kind(value);
	   if
	   :: kind == switch -> silent = 1 - silent
	   :: else -> skip
	   fi;
	   copy = 0;
	   if
	   :: kind == request && !silent ->
		copy = value;
		output!copy
	   :: else -> skip
	   fi
	od
}

active proctype user()
{
	byte got;

	do
	:: output?got;
	   assert(got < TOP)
	od
}
