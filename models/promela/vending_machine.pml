/*
  A vending machine that gives change.

  Source: written for this collection, as an exercise in data: structures within
  structures, arrays in structures, unsigned fields, mtype subtypes, select, for
  loops over ranges and over arrays, inlines and conditional expressions.  (The
  vending machine as an example goes back to C. A. R. Hoare's book
  "Communicating Sequential Processes", 1985.)

  A customer owns a few coins of value 1 and 2, puts them in, chooses drinks,
  and asks for the rest of the money back, in any order.  The machine pays back
  with the coins it has.  It therefore refuses a sale after which it could not
  give the rest: without that check, somebody who puts in a 2 and buys a drink
  for 1 could not be given the 1.

  Checked:
  - the assertions: whenever the money is asked for, it can be paid out; coins
    neither appear nor vanish; what has been sold has been paid for;
  - absence of deadlock;
  - `honest`: the customer's money, and what has been paid for drinks, always
    add up (checked between transactions);
  - `never_thirsty`: the stock lasts for ever.  Violated.

  expect deadlock: holds
  expect assertions: holds
  expect states: 2230
  expect ltl honest: holds
  expect ltl never_thirsty: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define DRINKS  3
#define ONES    3               /* coins the customer has to begin with */
#define TWOS    2
#define MONEY   (ONES + 2 * TWOS)

mtype:drink = { tea, coffee, cocoa };
mtype:event = { coin, choose, refund };

typedef purse {
	byte count[3]           /* count[v]: coins of value v; count[0] is not used */
};

typedef shelf {
	mtype:drink kind;
	unsigned price : 3;
	unsigned stock : 3
};

typedef machine {
	shelf shelves[DRINKS];
	purse till;
	short credit            /* what the customer has put in and not spent */
};

byte menu[DRINKS] = { 1, 2, 3 };        /* the prices */

machine vm;
purse pocket;
int earned;                     /* ghost: the prices of everything sold */
bool ready;                     /* ghost: the machine has been filled   */
bool busy;                      /* ghost: a transaction is going on     */

chan slot = [0] of { mtype:event, byte };

#define worth(p)  (p.count[1] + 2 * p.count[2])

/* in how many coins of value 2 can `amount` be paid, at most? */
#define twos(amount)  (vm.till.count[2] < (amount) / 2 -> vm.till.count[2] : (amount) / 2)
/* can it be paid at all? */
#define payable(amount)  ((amount) - 2 * twos(amount) <= vm.till.count[1])

inline move_coins(from, to, value, n)
{
	assert(from.count[value] >= n);
	from.count[value] = from.count[value] - n;
	to.count[value] = to.count[value] + n
}

#define chosen  vm.shelves[v]

inline sell()
{
	if
	:: chosen.stock > 0 && vm.credit >= chosen.price &&
	   payable(vm.credit - chosen.price) ->
	   chosen.stock--;
	   vm.credit = vm.credit - chosen.price;
	   earned = earned + chosen.price
	:: else                 /* sold out, too dear, or no change */
	fi
}

inline fill()
{
	for (i in menu) {
		vm.shelves[i].kind = (i == 0 -> tea : (i == 1 -> coffee : cocoa));
		vm.shelves[i].price = menu[i];
		vm.shelves[i].stock = 1
	};
	pocket.count[1] = ONES;
	pocket.count[2] = TWOS
}

proctype the_machine()
{
	mtype:event e;
	byte v, n;

end:	do
	:: atomic { slot ? e(v) -> busy = true };
	   d_step {
		if
		:: e == coin ->
		   move_coins(pocket, vm.till, v, 1);
		   vm.credit = vm.credit + v
		:: e == choose ->
		   sell()
		:: e == refund ->
		   n = twos(vm.credit);
		   move_coins(vm.till, pocket, 2, n);
		   vm.credit = vm.credit - 2 * n;
		   n = vm.credit;
		   move_coins(vm.till, pocket, 1, n);
		   vm.credit = 0
		fi;
		assert(worth(vm.till) + worth(pocket) == MONEY);
		assert(worth(vm.till) == vm.credit + earned);
		n = 0;
		v = 0;
		busy = false
	   }
	od
}

proctype customer()
{
	byte x;

	do
	:: !busy ->                     /* wait for the machine to finish */
	   if
	   :: select (x : 1 .. 2);
	      if
	      :: pocket.count[x] > 0 -> slot ! coin(x)
	      :: else
	      fi
	   :: select (x : 0 .. DRINKS - 1);
	      slot ! choose(x)
	   :: slot ! refund(0)
	   fi;
	   x = 0
	od
}

init {
	byte i;

	atomic {
		fill();
		i = 0;
		ready = true;
		run the_machine();
		run customer()
	}
}

ltl honest        { [] (!ready || busy || worth(pocket) + vm.credit + earned == MONEY) }
ltl never_thirsty {
	[] (!ready || vm.shelves[0].stock + vm.shelves[1].stock + vm.shelves[2].stock > 0)
}
