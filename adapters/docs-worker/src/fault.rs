//! Job failures and their user-facing messages.

use docs_ports::{ConvertError, PdfError, SpecError};

use crate::{
    options::{JobKind, WorkerLimits},
    refusal::AdapterRefusal,
};

/// The reason that a job produced no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The process could not be started, or the program is not a worker.
    NotStarted(String),
    /// The job exceeded its memory limit.
    Memory,
    /// The job exceeded its CPU time limit.
    Cpu,
    /// The job exceeded its wall-clock time limit.
    Wall,
    /// The answer exceeded its size limit.
    Answer,
    /// The process ended without an answer, or sent a malformed one.
    Crashed,
    /// An image could not be loaded.
    Image(PdfError),
    /// The adapter in the process returned an error.
    Refused(AdapterRefusal),
    /// The caller no longer waits for the answer.
    Unwanted,
}

impl Fault {
    /// Converts the fault to an error of the PDF port.
    pub(crate) fn into_pdf_error(self, limits: &WorkerLimits) -> PdfError {
        match self {
            Self::NotStarted(why) => PdfError::Failed(why),
            Self::Memory => PdfError::TooLarge(format!(
                "rendering this PDF exceeded its memory limit of {}",
                size(limits.memory)
            )),
            Self::Cpu => PdfError::TooSlow(format!(
                "rendering this PDF exceeded its CPU time limit of {}",
                seconds(limits.cpu)
            )),
            Self::Wall => PdfError::TooSlow(format!(
                "rendering this PDF exceeded its time limit of {}",
                seconds(limits.wall)
            )),
            Self::Answer => PdfError::TooLarge(format!("the PDF must be at most {}", size(limits.answer))),
            Self::Crashed => {
                PdfError::Unprocessable("the content of these pages crashed the PDF renderer".to_owned())
            }
            Self::Image(error) => error,
            Self::Refused(refusal) => refusal.into_pdf_error(),
            Self::Unwanted => PdfError::Failed("the caller no longer waits for the PDF".to_owned()),
        }
    }

    /// Converts the fault to an error of the document conversion port.
    pub(crate) fn into_convert_error(self, kind: JobKind, limits: &WorkerLimits) -> ConvertError {
        let (noun, advice) = match kind {
            JobKind::Unpack => ("the archive", "put fewer files into it"),
            JobKind::Convert | JobKind::Render | JobKind::ReadSpec => {
                ("the document", "split it, or remove its largest parts")
            }
        };
        let too_large = |what: String| ConvertError::TooLarge(format!("{noun} {what}; {advice}"));
        match self {
            Self::NotStarted(why) => ConvertError::Failed(why),
            Self::Memory => too_large(format!("exceeded the memory limit of {}", size(limits.memory))),
            Self::Cpu => too_large(format!("exceeded the CPU time limit of {}", seconds(limits.cpu))),
            Self::Wall => too_large(format!("exceeded the time limit of {}", seconds(limits.wall))),
            Self::Answer => too_large(format!("must be at most {} when unpacked", size(limits.answer))),
            Self::Crashed => ConvertError::Unreadable(format!(
                "{noun} crashed its parser; save it again with another program"
            )),
            Self::Refused(refusal) => refusal.into_convert_error(),
            Self::Image(error) => ConvertError::Failed(error.to_string()),
            Self::Unwanted => ConvertError::Failed("the caller no longer waits for the document".to_owned()),
        }
    }
}

impl Fault {
    /// Converts the fault to an error of the specification reader port.
    pub(crate) fn into_spec_error(self, limits: &WorkerLimits) -> SpecError {
        let too_large = |what: String| {
            SpecError::TooLarge(format!("the specification {what}; remove its largest parts, or split it"))
        };
        match self {
            Self::NotStarted(why) => SpecError::Failed(why),
            Self::Memory => too_large(format!("exceeded the memory limit of {}", size(limits.memory))),
            Self::Cpu => too_large(format!("exceeded the CPU time limit of {}", seconds(limits.cpu))),
            Self::Wall => too_large(format!("exceeded the time limit of {}", seconds(limits.wall))),
            Self::Answer => too_large(format!("must be at most {} when parsed", size(limits.answer))),
            Self::Crashed => too_large("crashed its parser".to_owned()),
            Self::Refused(refusal) => refusal.into_spec_error(),
            Self::Image(error) => SpecError::Failed(error.to_string()),
            Self::Unwanted => {
                SpecError::Failed("the caller no longer waits for the specification".to_owned())
            }
        }
    }
}

fn seconds(time: std::time::Duration) -> String {
    format!("{} seconds", time.as_secs_f32())
}

/// Formats a size for users.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{bytes} bytes"),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1_u32 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerOptions;

    #[test]
    fn fault_messages_contain_the_limit_and_a_remedy() {
        let options = WorkerOptions::default();
        let told = |fault: Fault| fault.into_convert_error(JobKind::Convert, &options.convert).to_string();
        assert_eq!(
            told(Fault::Memory),
            "the document exceeded the memory limit of 512 MiB; split it, or remove its largest parts"
        );
        assert!(told(Fault::Cpu).starts_with("the document exceeded the CPU time limit of 45 seconds; "));
        assert!(told(Fault::Wall).starts_with("the document exceeded the time limit of 60 seconds; "));
        assert!(told(Fault::Answer).starts_with("the document must be at most 256 MiB when unpacked; "));
        assert!(told(Fault::Crashed).contains("save it again"));
        let told = Fault::Answer.into_convert_error(JobKind::Unpack, &options.unpack).to_string();
        assert_eq!(told, "the archive must be at most 256 MiB when unpacked; put fewer files into it");
    }

    #[test]
    fn faults_caused_by_a_book_are_not_platform_failures() {
        let limits = WorkerOptions::default().render;
        for fault in [Fault::Memory, Fault::Cpu, Fault::Wall, Fault::Answer, Fault::Crashed] {
            let error = fault.clone().into_pdf_error(&limits);
            assert!(!matches!(error, PdfError::Failed(_)), "{fault:?}");
        }
        let error = Fault::NotStarted("no such file".to_owned()).into_pdf_error(&limits);
        assert_eq!(error, PdfError::Failed("no such file".to_owned()));
    }
}
