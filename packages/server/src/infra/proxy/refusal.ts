/** The statuses with which the proxy answers by itself. */
export type Refusal = 400 | 405 | 408 | 417 | 502 | 503 | 504
