/*
  The alternating bit protocol over channels that lose messages.

  Source: K. A. Bartlett, R. A. Scantlebury and P. T. Wilkinson, "A note on
  reliable full-duplex transmission over half-duplex links", Communications of
  the ACM 12(5), 1969.

  The sender repeats a message, tagged with one bit, until it receives an
  acknowledgement with the same bit; it then flips the bit and goes on.  The
  receiver acknowledges everything, and accepts a message only if it carries
  the bit it is waiting for.  Both channels keep order but may lose anything.
  Retransmission may happen at any time, however premature.

  Messages are numbered modulo 4, so that the receiver can tell a lost,
  repeated or swapped message from the right one: the protocol itself looks at
  the bit only.

  Checked:
  - the assertion: messages are accepted in order, none lost, none repeated;
  - absence of deadlock;
  - `delivers`: something new is accepted again and again.  Violated: a channel
    may lose everything, and fairness between processes cannot forbid it;
  - `delivers_if_fair`: if data reach the receiver again and again, and
    acknowledgements the sender, then new messages are accepted again and
    again.  This holds, and is what one can ask for over such channels.

  expect deadlock: holds
  expect assertions: holds
  expect states: 4396
  expect ltl delivers: violated
  expect ltl delivers (weak fairness): violated
  expect ltl delivers_if_fair: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define K  4        /* messages are numbered modulo K */

chan data = [2] of { byte, bit };
chan acks = [2] of { bit };

active proctype sender()
{
	byte number;
	bit  current, b;

	do
	:: data ! number, current                       /* (re)transmit      */
	:: nfull(data) -> skip                          /* ... and lose it   */
	:: acks ? b ->
answered:  if
	   :: b == current ->
	      d_step { current = 1 - current; number = (number + 1) % K }
	   :: else -> skip                              /* an old one        */
	   fi;
	   b = 0
	od
}

active proctype receiver()
{
	byte number, wanted;
	bit  current, b;

	do
	:: data ? number, b ->
arrived:   if
	   :: b == current ->
fresh:	      assert(number == wanted);
	      d_step { current = 1 - current; wanted = (wanted + 1) % K }
	   :: else -> skip                              /* seen it before    */
	   fi;
	   if
	   :: acks ! b
	   :: true -> skip                              /* the ack gets lost */
	   fi;
	   d_step { number = 0; b = 0 }
	od
}

ltl delivers { [] <> receiver@fresh }

ltl delivers_if_fair {
	([] <> receiver@arrived && [] <> sender@answered) -> [] <> receiver@fresh
}
