/** Functions that Math does not have. */

const TWO_OVER_ROOT_PI = 2 / Math.sqrt(Math.PI);
const ROOT_PI = Math.sqrt(Math.PI);
const TAIL = 2.5; // from here on the continued fraction needs fewer terms than the series
const FRACTION_TERMS = 60;

/** The error function, to rounding. */
export function erf(x: number): number {
  const size = Math.abs(x);
  if (size < TAIL) return series(x);
  if (size > 6) return Math.sign(x);
  return Number.isNaN(x) ? NaN : Math.sign(x) * (1 - tail(size));
}

/** 2 / sqrt(pi) exp(-x^2) sum_k 2^k x^(2k+1) / (2k+1)!!: every term has the sign of x, so nothing cancels. */
function series(x: number): number {
  const square = x * x;
  let term = x;
  let sum = x;
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
    term *= (2 * square) / (2 * k + 1);
    sum += term;
  }
  return TWO_OVER_ROOT_PI * Math.exp(-square) * sum;
}

/** exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))), for large positive x. */
function tail(x: number): number {
  let fraction = x;
  for (let k = FRACTION_TERMS; k >= 1; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / ROOT_PI / fraction;
}

/** The nearest whole number; halves go to the even one. */
export function roundToEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** x^y for a whole number y, by repeated squaring. */
export function wholePower(x: number, y: number): number {
  let result = 1;
  let factor = x;
  for (let rest = Math.abs(y); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= factor;
    factor *= factor;
  }
  return y < 0 ? 1 / result : result;
}
