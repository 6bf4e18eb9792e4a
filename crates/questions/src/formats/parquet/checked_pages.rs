//! The pages of a Parquet column of strings → the same pages, none of which claims more values than it can hold.
//!
//! The Parquet library takes a page's count of values on trust and fills memory for them, 32 bytes for each
//! string of a dictionary: a forged count in a small file could ask for 64 GB. What stays is a forged schema,
//! for which the library reserves up to 16 GB of addresses that it never fills, before it finds the error.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// The most values of a page of data. Nulls and repeated values take nearly no bytes, so the bytes of such a
/// page don't bound them; writers make pages of some ten thousand values, or of a row group's million nulls.
const MOST_VALUES: usize = 1 << 22;

/// Reads pages and refuses those whose count of values can't be true.
pub(crate) struct CheckedPages(pub Box<dyn PageReader>);

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.0.get_next_page()?;
        let most = match &page {
            // A string of a dictionary is preceded by its length in four bytes.
            Some(Page::DictionaryPage { buf, .. }) => buf.len() / 4,
            _ => MOST_VALUES,
        };
        match &page {
            Some(page) if page.num_values() as usize > most => Err(ParquetError::General(format!(
                "a page claims {} values: expected at most {most}",
                page.num_values()
            ))),
            _ => Ok(page),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.0.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Encoding;

    use super::*;

    /// Hands out one page.
    struct OnePage(Option<Page>);

    impl PageReader for OnePage {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.take())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Iterator for OnePage {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.get_next_page().transpose()
        }
    }

    #[test]
    fn a_page_that_claims_more_values_than_it_can_hold_is_refused() {
        let dictionary = |num_values| Page::DictionaryPage {
            buf: vec![0; 9].into(),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let data = |num_values| Page::DataPage {
            buf: vec![0; 9].into(),
            num_values,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let refusal = |page| {
            let mut pages = CheckedPages(Box::new(OnePage(Some(page))));
            pages.get_next_page().err().map(|error| error.to_string())
        };
        assert_eq!(refusal(dictionary(2)), None);
        let message = "Parquet error: a page claims 3 values: expected at most 2";
        assert_eq!(refusal(dictionary(3)).as_deref(), Some(message));
        assert_eq!(refusal(data(MOST_VALUES as u32)), None);
        let message = "Parquet error: a page claims 4194305 values: expected at most 4194304";
        assert_eq!(refusal(data(MOST_VALUES as u32 + 1)).as_deref(), Some(message));
    }
}
