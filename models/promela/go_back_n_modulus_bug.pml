/*
  Go-back-N with too few sequence numbers.

  Source: the classical exam question on sliding windows (A. S. Tanenbaum,
  "Computer Networks"): how large may the window be when sequence numbers are
  counted modulo m?  At most m - 1.

  As go_back_n.pml, with a window of 2 and sequence numbers modulo 2.  If both
  frames of a full window arrive and both acknowledgements are lost, the sender
  repeats them, and the receiver takes the repetitions for the next two frames.

  Checked:
  - the assertion that payloads are accepted in order: violated;
  - absence of deadlock: holds (the protocol happily goes on).

  expect deadlock: holds
  expect assertions: violated
  expect states: 280528

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define WINDOW    2
#define MODULUS   2
#define PAYLOADS  4

typedef frame {
	byte seq;
	byte payload
};

chan data = [2] of { frame };
chan acks = [1] of { byte };

byte pending;           /* frames sent and not acknowledged */

/* send frame number i of the window, or lose it */
inline transmit()
{
	d_step {
		f.seq = (base.seq + i) % MODULUS;
		f.payload = (base.payload + i) % PAYLOADS
	};
	if
	:: data ! f
	:: true -> skip
	fi;
	d_step { i++; f.seq = 0; f.payload = 0 }
}

active proctype sender()
{
	frame f;        /* the frame being sent                              */
	frame base;     /* the oldest one that is not acknowledged           */
	byte  i, a;

	do
	:: pending < WINDOW ->                          /* send a new frame  */
	   i = pending;
	   pending++;
	   transmit()

	:: pending > 0 ->                               /* timeout: go back  */
	   i = 0;
	   do
	   :: i < pending -> transmit()
	   :: else -> break
	   od;
	   i = 0

	:: acks ? a ->
	   d_step {
		/* a acknowledges the first i frames of the window, if any */
		i = (a + MODULUS - base.seq) % MODULUS + 1;
		if
		:: i <= pending ->
		   pending = pending - i;
		   base.seq = (base.seq + i) % MODULUS;
		   base.payload = (base.payload + i) % PAYLOADS
		:: else                                 /* an old one: ignore */
		fi;
		i = 0;
		a = 0
	   }
	od
}

active proctype receiver()
{
	frame f;
	frame wanted;

	do
	:: data ? f ->
	   if
	   :: f.seq == wanted.seq ->
	      assert(f.payload == wanted.payload);
	      d_step {
		wanted.seq = (wanted.seq + 1) % MODULUS;
		wanted.payload = (wanted.payload + 1) % PAYLOADS;
		f.seq = 0;
		f.payload = 0
	      }
	   :: else ->
	      d_step { f.seq = 0; f.payload = 0 }
	   fi;
	   /* acknowledge everything before the frame wanted next */
	   if
	   :: acks ! (wanted.seq + MODULUS - 1) % MODULUS
	   :: true -> skip
	   fi
	od
}
