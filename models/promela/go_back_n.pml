/*
  Go-back-N: a sliding window protocol over channels that lose messages.

  Source: the ARQ protocol of the textbooks (A. S. Tanenbaum, "Computer
  Networks", protocol 5; D. Bertsekas and R. Gallager, "Data Networks"); see
  also N. V. Stenning, "A data transfer protocol", Computer Networks 1, 1976.

  The sender may have WINDOW frames under way, numbered modulo MODULUS.  The
  receiver accepts frames in order only; acknowledgement s means that all up
  to s have been accepted.  On a timeout, which may come at any time, the
  sender goes back and repeats everything that is not acknowledged.

  The frames carry, apart from the sequence number, a payload that counts
  modulo PAYLOADS.  The protocol never looks at it; only the assertion does.

  Checked:
  - the assertion: payloads are accepted in order, without loss or repetition.
    It holds because MODULUS is larger than WINDOW.  With MODULUS == WINDOW it
    fails: see go_back_n_modulus_bug.pml;
  - absence of deadlock;
  - `window`: never more than WINDOW frames unacknowledged.

  expect deadlock: holds
  expect assertions: holds
  expect states: 224496
  expect ltl window: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define WINDOW    2
#define MODULUS   3
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

ltl window { [] (pending <= WINDOW) }
