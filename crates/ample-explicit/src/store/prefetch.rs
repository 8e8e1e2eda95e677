//! Asking for memory before it is needed.

/// Starts to bring a value into the cache. Only a hint; does nothing where there is no such instruction.
#[inline]
pub(super) fn prefetch<T>(value: &T) {
    prefetch_at(std::ptr::from_ref(value).cast());
}

/// The same for an address, which may be any.
#[inline]
pub(super) fn prefetch_at(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86_64, and a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
