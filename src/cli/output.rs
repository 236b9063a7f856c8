//! How a command ended.

/// Done, or done with something the caller must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Complete,
    /// Finished, but records were rejected, IDs unmatched or an input unreadable.
    Partial,
}

impl Outcome {
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Complete => 0,
            Self::Partial => 3,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::Partial { self } else { other }
    }
}
