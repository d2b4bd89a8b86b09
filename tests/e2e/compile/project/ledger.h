/* A static library in C. */
#ifndef LEDGER_H
#define LEDGER_H
#ifdef __cplusplus
extern "C" {
#endif
void ledger_deposit(long amount);
long ledger_balance(void);
#ifdef __cplusplus
}
#endif
#endif
