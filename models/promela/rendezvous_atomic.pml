/*
  Rendez-vous inside atomic sequences: a dispatcher that never holds a job.

  Source: written for this collection, to show a rule of Promela that is easily
  got wrong (G. J. Holzmann, "The SPIN Model Checker", 2003, chapter 7): when a
  process sends by rendez-vous from within an atomic sequence, control goes to
  the receiver; if the receive belongs to an atomic sequence too, it is the
  receiver that goes on without interruption; and the sender resumes its
  own sequence when it is scheduled again.

  Clients submit jobs to a dispatcher, which passes each on to a free worker:

     client --submit--> dispatcher --work--> worker

  The client's send, the dispatcher's receive and send, and the worker's
  receive make one uninterrupted chain across three processes.  An observer
  looks for a moment when the dispatcher has a job in its hands, and for one
  when the numbers of free workers and of jobs under way do not add up.  There
  is none: both exist only inside the chain, where nobody can look.

  Checked:
  - the assertions of the observer: hold, exactly if atomicity is handed on as
    described;
  - the assertion of the worker: it gets the job that was submitted;
  - absence of deadlock.

  expect deadlock: holds
  expect assertions: holds
  expect states: 893

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define WORKERS  2
#define CLIENTS  3

chan submit = [0] of { byte };
chan work   = [0] of { byte };

byte free = WORKERS;            /* workers that wait for a job            */
byte running;                   /* jobs that a worker has                 */
bool holding;                   /* the dispatcher has a job in its hands  */
bool pending[CLIENTS];          /* ghost: the client waits for its job    */

active proctype dispatcher()
{
	byte job;

end:	do
	:: free > 0 ->
end_idle:  atomic {
		submit ? job;
		holding = true;
		free--;
		work ! job;             /* from here the worker goes on ...   */
		job = 0                 /* ... and this is done some time later */
	   }
	od
}

active [WORKERS] proctype worker()
{
	byte job;

end:	do
	:: atomic {
		work ? job;
		holding = false;
		running++
	   };
	   assert(pending[job]);
	   atomic {
		pending[job] = false;
		running--;
		free++;
		job = 0
	   }
	od
}

proctype client(byte me)
{
	do
	:: atomic {
		pending[me] = true;
		submit ! me             /* blocks until the dispatcher is there */
	   };
	   !pending[me]
	od
}

active proctype observer()
{
end:	do
	:: atomic { holding -> assert(false) }
	:: atomic { free + running != WORKERS -> assert(false) }
	od
}

init {
	byte i;

	atomic {
		for (i : 0 .. CLIENTS - 1) {
			run client(i)
		}
	}
}
