//! A bound on how many segments are in memory at once.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Counts down the segments that may be in memory.
pub(super) struct Permits {
    free: Arc<(Mutex<usize>, Condvar)>,
}

/// Given back when dropped, also by a panic.
pub(super) struct Permit {
    free: Arc<(Mutex<usize>, Condvar)>,
}

impl Permits {
    pub(super) fn new(count: usize) -> Self {
        Self { free: Arc::new((Mutex::new(count), Condvar::new())) }
    }

    pub(super) fn take(&self) -> Permit {
        let (count, freed) = &*self.free;
        let guard = count.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard = freed.wait_while(guard, |count| *count == 0).unwrap_or_else(PoisonError::into_inner);
        *guard -= 1;
        Permit { free: Arc::clone(&self.free) }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let (count, freed) = &*self.free;
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        freed.notify_one();
    }
}
