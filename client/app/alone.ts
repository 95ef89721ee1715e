/**
 * Whether this window shows one thread and no list of threads, as its address says: `?alone`. For a frame in
 * another page, which has little room and says itself what stands in it.
 */
export const ALONE = new URLSearchParams(window.location.search).has("alone");
