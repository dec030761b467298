/* Which form of the eight-lane products of Fp (field/fp52.h) this processor is quicker with. */
#ifndef FIELD_FP52_FORM_H
#define FIELD_FP52_FORM_H

/* 1 where products by halves take less time than those by rows: both are timed, which takes a tenth of a
 * millisecond. Only for processors with AVX-512 IFMA. */
int fp52_halves_pay_ifma(void);
#endif
