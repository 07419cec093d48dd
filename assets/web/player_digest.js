// SHA-256 by its definition, FIPS 180-4. Browsers have one of their own, and none for pages that come by plain http.
const DIGEST_BLOCK = 64, DIGEST_ROUNDS = 64;  // bytes, and constants
/** The first 32 bits behind the point. @param {number} root */
const fraction = (root) => root % 1 * 2 ** 32 | 0;
const primes = [];
for (let n = 2; primes.length < DIGEST_ROUNDS; n++) if (primes.every((prime) => n % prime)) primes.push(n);
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const beginning = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
/** @param {number} word @param {number} by bits to the right, where those that fall out come in again */
const turned = (word, by) => word >>> by | word << 32 - by;
/**
 * The digest of bytes, in hex digits.
 * @param {Uint8Array} bytes
 */
export function sha256(bytes) {
  // Behind them a bit that is one, zeros, and how many bits they are.
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / DIGEST_BLOCK) * DIGEST_BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer), words = new Int32Array(DIGEST_ROUNDS), digest = beginning.slice();
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  for (let block = 0; block < padded.length; block += DIGEST_BLOCK) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(block + 4 * i);
    for (let i = 16; i < DIGEST_ROUNDS; i++) {
      const before = words[i - 15], last = words[i - 2];
      words[i] = words[i - 16] + (turned(before, 7) ^ turned(before, 18) ^ before >>> 3)
        + words[i - 7] + (turned(last, 17) ^ turned(last, 19) ^ last >>> 10);
    }
    mixed(digest, words);
  }
  return Array.from(digest, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
/**
 * Mixes a block into the digest.
 * @param {Int32Array} digest
 * @param {Int32Array} words
 */
function mixed(digest, words) {
  let [a, b, c, d, e, f, g, h] = digest;
  for (let i = 0; i < DIGEST_ROUNDS; i++) {
    const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f ^ ~e & g) + constants[i] + words[i];
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (a & b ^ a & c ^ b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, d + first | 0, c, b, a, first + second | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => { digest[i] += word; });
}
