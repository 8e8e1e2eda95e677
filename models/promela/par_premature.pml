/*
  Positive acknowledgement with retransmission, and a timer that may be early.

  Source: protocol 3 in A. S. Tanenbaum, "Computer Networks", where the failure
  shown here is the reason for numbering the acknowledgements.

  As par_timeout.pml, but the sender may lose patience at any time.  Then:

     the sender sends message 0; the receiver accepts it and acknowledges;
     the timer goes off too early, and message 0 is sent again;
     the sender gets the acknowledgement, and sends message 1, which is stolen;
     the receiver gets the repetition of message 0, ignores and acknowledges it;
     the sender takes this for the acknowledgement of message 1,
     goes on to message 2, and message 1 is lost for good.

  Checked:
  - the assertion that messages are accepted in order: violated.  (Message 3 is
    taken for message 1: the bits are the same);
  - absence of deadlock: holds.  (Full channels do not block the sender and the
    receiver for ever: the thief can always empty them.)

  expect deadlock: holds
  expect assertions: violated
  expect states: 8343

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define K  4                            /* messages are numbered modulo K */

chan data = [2] of { byte, bit };       /* number (for the assertion), bit */
chan acks = [2] of { bool };

active proctype sender()
{
	byte number;
	bit  b;

	do
	:: data ! number, b;
	   do
	   :: acks ? _ ->
	      d_step { number = (number + 1) % K; b = 1 - b };
	      break
	   :: true ->                   /* instead of timeout */
	      data ! number, b
	   od
	od
}

active proctype receiver()
{
	byte number, wanted;
	bit  b, expected;

	do
	:: data ? number, b ->
	   if
	   :: b == expected ->
	      assert(number == wanted);
	      d_step {
		wanted = (wanted + 1) % K;
		expected = 1 - expected
	      }
	   :: else -> skip              /* a repetition */
	   fi;
	   acks ! true
	od
}

active proctype thief()
{
	do
	:: data ? _, _
	:: acks ? _
	od
}
