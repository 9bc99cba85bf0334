/*
 * Answers of S3 servers: what is read of them, and what is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/s3/s3_answer.h"
#include "support/cases.h"

static enum colander_code
answer(struct s3_answer *read, const char *text)
{
    memset(read, 0, sizeof(*read));
    return s3_answer_read(read, colander_slice_text(text), why());
}

TEST(a_list_has_keys_sizes_and_times)
{
    struct s3_answer read;

    OK(answer(&read,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<ListBucketResult xmlns=\"http://s3/doc/\">\n"
              "  <Name>b</Name><Prefix>p/</Prefix><KeyCount>2</KeyCount>\n"
              "  <!-- two of them: <Contents> -->\n"
              "  <Contents a='>'><Key>p/a &amp; b&#x2B;&#233;&lt;</Key>"
              "<LastModified>2009-10-12T17:50:30.000Z</LastModified>"
              "<ETag>&quot;x&quot;</ETag><Size>434234</Size>"
              "<Owner><ID>i</ID><Key>no</Key></Owner><StorageClass/>"
              "</Contents>\n"
              "  <Contents><Size>0</Size><Key><![CDATA[p/<&]]></Key>"
              "<LastModified>1970-01-02T00:00:01Z</LastModified></Contents>\n"
              "  <CommonPrefixes><Prefix>p/q/</Prefix></CommonPrefixes>"
              "  <IsTruncated>true</IsTruncated>"
              "<NextContinuationToken>1/=&gt;</NextContinuationToken>\n"
              "</ListBucketResult>\n"));
    assert_int_equal(read.objects.count, 2);
    assert_string_equal(read.objects.items[0].name, "p/a & b+\xc3\xa9<");
    assert_int_equal(read.objects.items[0].size, 434234);
    assert_int_equal(read.objects.items[0].modified, 1255369830);
    assert_string_equal(read.objects.items[1].name, "p/<&");
    assert_int_equal(read.objects.items[1].modified, 86401);
    assert_true(read.is_truncated);
    assert_false(read.is_error);
    assert_string_equal(text_string(&read.token), "1/=>");
    s3_answer_release(&read);
}

TEST(an_error_has_a_code_and_a_message)
{
    struct s3_answer read;

    OK(answer(&read, "<Error><Code>NoSuchKey</Code><Message>No.</Message>"
                     "<Region>eu-west-1</Region></Error>"));
    assert_true(read.is_error);
    assert_string_equal(text_string(&read.code), "NoSuchKey");
    assert_string_equal(text_string(&read.message), "No.");
    assert_string_equal(text_string(&read.region), "eu-west-1");
    s3_answer_release(&read);
}

TEST(what_is_no_answer_is_refused)
{
    static const char *const texts[] = {
        "",
        "no",
        "<a>",
        "</a>",
        "<a></b>",
        "<a><b></a></b>",
        "<a/><b/>",
        "<a",
        "<a b='>",
        "<a>&nope;</a>",
        "<a>&#0;</a>",
        "<a>&#x110000;</a>",
        "<a>&#-1;</a>",
        "<a>&amp</a>",
        "<a><!-- </a>",
        "<a><![CDATA[ </a>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "<a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a></a>",
        "<l><Contents></Contents></l>",
        "<l><Contents><Key>a</Key><Size>1</Size></Contents></l>",
        ("<l><Contents><Key>a</Key><Size>-1</Size>"
         "<LastModified>2009-10-12T17:50:30Z</LastModified></Contents></l>"),
        ("<l><Contents><Key>a</Key><Size>99999999999999999999</Size>"
         "<LastModified>2009-10-12T17:50:30Z</LastModified></Contents></l>"),
        ("<l><Contents><Key></Key><Size>1</Size>"
         "<LastModified>2009-10-12T17:50:30Z</LastModified></Contents></l>"),
        ("<l><Contents><Key>a</Key><Size>1</Size>"
         "<LastModified>yesterday</LastModified></Contents></l>"),
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct s3_answer read;

        if (answer(&read, texts[i]) != COLANDER_IO)
            fail_msg("'%s' is accepted", texts[i]);
        s3_answer_release(&read);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
