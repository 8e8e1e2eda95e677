/*
  Readers who become writers: the deadlock of lock upgrades.

  Source: the conversion deadlock of data bases, J. Gray and A. Reuter,
  "Transaction Processing: Concepts and Techniques", 1993, section 7.8.

  A transaction takes a shared lock, reads, and may then find that it has to
  write: it asks for the exclusive lock, and gets it when no other reader is
  left.  It keeps its shared lock until then.

  Checked:
  - the assertion: who writes is alone.  It holds;
  - absence of deadlock.  Violated: all may have read, and each waits for the
    others to release their shared locks.  (The lock has to be asked for in
    update mode from the beginning.)

  N can be set on the command line; docs/directed.md has figures.

  expect deadlock: violated
  expect assertions: holds
  expect states: 32180

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#ifndef N
#define N  4
#endif

byte readers;
bool writing;
byte version;                   /* what is read and written, modulo 4 */

active [N] proctype transaction()
{
	byte seen;

	do
	:: atomic { !writing -> readers++ };
	   seen = version;
	   if
	   :: true -> readers--                         /* reading was enough */
	   :: true -> atomic { readers == 1 -> writing = true };
	      assert(readers == 1);
	      version = (seen + 1) % 4;
	      atomic { writing = false; readers-- }
	   fi;
	   seen = 0
	od
}
